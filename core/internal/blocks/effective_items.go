package blocks

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/match"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// Of the items that select every outbound, few can have an effect on any of them. If an
// item sets no leaf when all of these are merged, it sets none when further items take
// part, provided that no item can hide others without setting a leaf. So a class config
// stores the effective items, and its outbounds are merged from these. In the fleet of
// package bench/shape, 3 of 270 items remain.
//
// If a policy is replaced, the effective items of its new version are found without a merge
// of all items. An item is overridden if other items with a higher priority set each of
// its leaves. It remains overridden unless one of these leaves was set by the replaced item
// and is not set by its new version. Then the next lower item with this leaf inherits it.
// So only the items below the replaced one are merged, until they set the leaves that it no
// longer sets.

// withEffective returns x with its effective items. Candidates are items for every
// outbound, in ascending order, that include the effective ones.
func (x *toItems) withEffective(conf resource.ConfType, matched rules.Matched, candidates []itemRef) *toItems {
	known := &toItems{toIndex: x.toIndex, missing: x.missing, effective: candidates}
	if conf.HasUnion() {
		return known
	}
	merger := conf.NewMerger()
	x.fill(merger, matched, candidates, 0)
	numbers := merger.Origins(make([]int, 0, 8))
	if len(numbers) == 0 { // they set nothing, but an empty conf is a conf
		return known
	}
	// Items of policies that are attached to a route apply to that route alone, so all
	// of them remain.
	known.effective = nil
	for _, ref := range x.attached {
		if _, _, ok := x.position(ref); ok {
			known.effective = append(known.effective, ref)
		}
	}
	for _, number := range numbers {
		known.effective = append(known.effective, candidates[number])
	}
	slices.Sort(known.effective)
	return known
}

// fill merges the given items, highest priority first, except those that are attached to a
// route. Their numbers are their indexes plus base.
func (x *toItems) fill(merger resource.Merger, matched rules.Matched, items []itemRef, base int) {
	below := matched.Below()
	for i, complete := len(items)-1, false; i >= 0 && !complete; i-- {
		at, index, ok := x.position(items[i])
		if !ok {
			continue
		}
		p := below.At(at).Policy
		// The list of policies is long and their memory is scattered, so a field that
		// need not be read is not.
		if len(x.attached) > 0 && p.TargetRef.Kind.IsRoute() {
			continue
		}
		complete = merger.Fill(p.To[index].Conf, base+i)
	}
}

// replace returns the items after policies were replaced by versions with the same
// targetRefs. Matched has the new versions. The effective items of x must be known.
func (x *toItems) replace(conf resource.ConfType, matched rules.Matched, replaced []match.Replacement) *toItems {
	candidates := slices.Clone(x.effective)
	for _, r := range replaced {
		for _, ref := range x.meshItems(r.At) {
			candidates = append(candidates, ref)
			if i := ref.index(); slices.Contains(x.effective, ref) && !conf.HasUnion() {
				candidates = append(candidates, x.heirs(conf, matched, ref, r.Old.To[i].Conf, r.Next.To[i].Conf)...)
			}
		}
	}
	slices.Sort(candidates)
	return x.withEffective(conf, matched, slices.Compact(candidates))
}

// heirs returns the items that may set the leaves that an item sets by its old conf, and
// not by the next one.
func (x *toItems) heirs(conf resource.ConfType, matched rules.Matched, ref itemRef, old, next resource.Conf) []itemRef {
	end, _ := slices.BinarySearch(x.mesh, ref)
	for n := 0; ; n = 4 * max(1, n) {
		merger := conf.NewMerger()
		merger.Fill(next, 1+end)
		below := x.mesh[max(0, end-n):end]
		x.fill(merger, matched, below, 1)
		all := len(below) == end
		if !all {
			merger.Fill(old, 0)
		}
		numbers := merger.Origins(make([]int, 0, 8))
		if !all && slices.Contains(numbers, 0) {
			continue // the old conf sets a leaf that none of them sets
		}
		var heirs []itemRef
		for _, number := range numbers {
			if number > 0 && number <= len(below) {
				heirs = append(heirs, below[number-1])
			}
		}
		return heirs
	}
}

// meshItems returns the items for every outbound of the policy at a position of the class
// config.
func (x *toItems) meshItems(at int) []itemRef {
	for _, missing := range x.missing {
		if missing > at {
			break
		}
		at++
	}
	from, _ := slices.BinarySearch(x.mesh, itemRef(at)<<32)
	to, _ := slices.BinarySearch(x.mesh, itemRef(at+1)<<32)
	return x.mesh[from:to]
}
