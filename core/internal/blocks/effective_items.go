package blocks

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/match"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Of the items that select every outbound, few can have an effect on any of them. An
// item that sets no leaf when all of these are merged sets none when further items take
// part. This requires that no item hides others without setting a leaf. So a class
// config stores the effective items, and its outbounds are merged from these. In the
// fleet of package core/internal/shape, 3 of 270 items remain.
//
// If a policy is replaced, the effective items of its new version are found without a merge
// of all items. An item is overridden if other items with a higher priority set each of
// its leaves. It remains overridden unless one of these leaves was set by the replaced item
// and is not set by its new version. Then the next lower item with this leaf inherits it.
// So only the items below the replaced one are merged, until they set the leaves that it no
// longer sets.

// effective returns the items that can have an effect, among the given items for every
// outbound, in ascending order.
func (m *outboundMerger) effective(items []itemRef) []itemRef {
	if m.section.Conf.HasUnion() {
		return items
	}
	merger := m.section.Conf.NewMerger()
	m.fill(merger, items, 0)
	m.numbers = merger.Origins(m.numbers[:0])
	if len(m.numbers) == 0 { // they set nothing, but an empty conf is a conf
		return items
	}
	// Items of policies that are attached to a route apply to that route alone, so all
	// of them remain.
	effective := make([]itemRef, 0, len(m.to.attached)+len(m.numbers))
	for _, ref := range m.to.attached {
		if _, _, ok := m.to.position(ref); ok {
			effective = append(effective, ref)
		}
	}
	for _, number := range m.numbers {
		effective = append(effective, items[number])
	}
	slices.Sort(effective)
	return effective
}

// fill merges items, highest priority first, except those that are attached to a route.
// Their numbers are their indexes plus base.
func (m *outboundMerger) fill(merger resource.Merger, items []itemRef, base int) {
	below := m.matched.Below()
	for i, complete := len(items)-1, false; i >= 0 && !complete; i-- {
		at, index, ok := m.to.position(items[i])
		if !ok {
			continue
		}
		p := below.At(at).Policy
		// Read the policy only if there are attached routes: the list is long, and each
		// read is a cache miss.
		if len(m.to.attached) > 0 && p.TargetRef.Kind.IsRoute() {
			continue
		}
		complete = merger.Fill(p.To[index].Conf, base+i)
	}
}

// effectiveAfter returns the effective items after policies were replaced by versions with
// the same targetRefs. Before are the effective items of the earlier versions.
func (m *outboundMerger) effectiveAfter(before []itemRef, replaced []match.Replacement) []itemRef {
	items := append(make([]itemRef, 0, len(before)+8), before...)
	for _, r := range replaced {
		for _, ref := range m.to.meshItems(r.At) {
			items = append(items, ref)
			if i := ref.index(); slices.Contains(before, ref) {
				items = m.appendHeirs(items, ref, r.Old.To[i].Conf, r.Next.To[i].Conf)
			}
		}
	}
	slices.Sort(items)
	return m.effective(slices.Compact(items))
}

// appendHeirs appends the items that may set the leaves that an item sets by its old conf,
// and not by the next one.
func (m *outboundMerger) appendHeirs(items []itemRef, ref itemRef, old, next resource.Conf) []itemRef {
	if m.section.Conf.HasUnion() {
		return items
	}
	end, _ := slices.BinarySearch(m.to.mesh, ref)
	for n := 0; ; n = 4 * max(1, n) {
		merger := m.section.Conf.NewMerger()
		merger.Fill(next, 1+end)
		below := m.to.mesh[max(0, end-n):end]
		m.fill(merger, below, 1)
		all := len(below) == end
		if !all {
			merger.Fill(old, 0)
		}
		m.numbers = merger.Origins(m.numbers[:0])
		if !all && slices.Contains(m.numbers, 0) {
			continue // the old conf sets a leaf that none of them sets
		}
		for _, number := range m.numbers {
			if number > 0 && number <= len(below) {
				items = append(items, below[number-1])
			}
		}
		return items
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
