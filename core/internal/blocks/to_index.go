package blocks

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/items"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// toIndex contains the concatenated `to` items of the matched policies (SPEC
// 4.1), by their selectors. It refers to items by position, so it stays valid
// when a policy is replaced by a version with the same targetRefs. It is
// immutable. Each list is in ascending order.
type toIndex struct {
	mesh     []itemRef // items that select every outbound
	attached []itemRef // the items of mesh whose policies are attached to a route
	subsets  []itemRef // MeshSubset items; only kinds of embedders have them
	// lists contains the other items, and numbers the indexes of the lists by their selectors.
	// So an item of a known selector is added without a write to a map.
	lists   [][]itemRef
	numbers map[items.Selector]int
}

// filed returns the items of a selector.
func (x *toIndex) filed(s items.Selector) []itemRef {
	if number, known := x.numbers[s]; known {
		return x.lists[number]
	}
	return nil
}

// itemRef is the position of a policy, in the upper half, and of an item in it.
// A larger itemRef has higher priority. [toItems.of] returns the item.
type itemRef uint64

// index returns the position of the item in its policy.
func (r itemRef) index() int { return int(r & 0xffff_ffff) }

// newToIndex returns the index of the items that may apply to outbounds by tags.
func newToIndex(s semantics.Semantics, matched results.Matched) *toIndex {
	x := &toIndex{numbers: map[items.Selector]int{}}
	var names []items.Selector
	for i, selected := range matched.All() {
		to := selected.Policy.To
		if !s.AppliesToTags(selected.Policy) {
			continue
		}
		for j := range to {
			ref := itemRef(i)<<32 | itemRef(j)
			if to[j].TargetRef.Kind == resource.TargetMesh {
				x.mesh = append(x.mesh, ref)
				if selected.Policy.TargetRef.Kind.IsRoute() {
					x.attached = append(x.attached, ref)
				}
				continue
			}
			if to[j].TargetRef.RefersToDestination() { // no outbound by tags
				continue
			}
			names = items.AppendNames(names[:0], s, &to[j].TargetRef)
			for _, name := range names {
				number, known := x.numbers[name]
				if !known {
					number = len(x.lists)
					x.numbers[name] = number
					x.lists = append(x.lists, nil)
				}
				x.lists[number] = append(x.lists[number], ref)
			}
		}
	}
	x.mesh, x.subsets = slices.Clip(x.mesh), x.filed(items.Subsets)
	return x
}

// toItems are the `to` items of a class config: the items of an index, except the
// items of some policies. So class configs that differ in a few policies can share an
// index. It is immutable.
type toItems struct {
	*toIndex
	missing []int // positions in the list of policies of the index, sorted

	// effective are the items of mesh that can have an effect on some outbound, in
	// ascending order; nil if they are unknown.
	effective []itemRef
}

// resolve returns the item that a ref identifies in the policies of the class
// config. It returns false if the policy is missing.
func (x *toItems) resolve(ref itemRef, matched results.Matched) (p *resource.Policy, index int, ok bool) {
	at, index, ok := x.position(ref)
	if !ok {
		return nil, 0, false
	}
	return matched.At(at).Policy, index, true
}

// position returns the positions of the policy of an item in the class config, and of the item
// in the policy. It returns false if the policy is missing.
func (x *toItems) position(ref itemRef) (at, index int, ok bool) {
	at = int(ref >> 32)
	if len(x.missing) > 0 {
		before, missing := slices.BinarySearch(x.missing, at)
		if missing {
			return 0, 0, false
		}
		at -= before
	}
	return at, ref.index(), true
}

// without removes the items of the policies at the given positions of the class
// config, which must be sorted, and returns the remaining items.
func (x *toItems) without(positions []int) *toItems {
	missing := slices.Clone(x.missing)
	from := 0 // of x.missing
	for _, at := range positions {
		for from < len(x.missing) && x.missing[from] <= at+from {
			from++
		}
		missing = append(missing, at+from)
	}
	slices.Sort(missing)
	left := &toItems{toIndex: x.toIndex, missing: missing}
	if !slices.ContainsFunc(x.effective, func(ref itemRef) bool { _, _, ok := left.position(ref); return !ok }) {
		left.effective = x.effective // the removed items had no effect
	}
	return left
}

// sameToIndex reports whether the items of two versions of a policy are at the
// same places of a toIndex.
func sameToIndex(a, b *resource.Policy) bool {
	return a.TargetRef.Kind.IsRoute() == b.TargetRef.Kind.IsRoute() &&
		slices.EqualFunc(a.To, b.To, func(a, b resource.Item) bool { return a.TargetRef.Equal(&b.TargetRef) })
}
