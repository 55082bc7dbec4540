package mesh

import (
	"iter"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/index"
)

// Edited yields the dataplanes whose own resources were added, changed or removed from
// one state to another, in any order: each as an old and a new version, nil if it does
// not exist. A nil state is a mesh without resources.
//
// Its cost is proportional to the difference of two versions of one lineage, and to the
// number of dataplanes of other states.
func Edited(before, after *State) iter.Seq2[*resource.Dataplane, *resource.Dataplane] {
	return func(yield func(old, next *resource.Dataplane) bool) {
		left, present := before.allSlots(), after.allSlots()
		if sameLineage(before, after) {
			moved := movedSlots(before, after)
			left, present = moved.All(), moved.All()
		}
		for slot := range left {
			if d := before.dataplanes.Value(slot).resource; d != nil && after.versionOf(d) == nil && !yield(d, nil) {
				return
			}
		}
		for slot := range present {
			d := after.dataplanes.Value(slot).resource
			if d == nil {
				continue
			}
			if old := before.versionOf(d); (old == nil || !equalDataplane(old, d)) && !yield(old, d) {
				return
			}
		}
	}
}

// Touched yields the dataplanes whose own resources or configs may differ in two states of a
// mesh, in any order, some twice: the dataplanes of either state, in its version. It yields
// more than [Compare] returns, because nothing is compared. A nil state is a mesh without
// resources.
//
// Its cost is the cost of [Edited], plus work proportional to the dataplanes that it yields.
func Touched(before, after *State) iter.Seq[*resource.Dataplane] {
	return func(yield func(*resource.Dataplane) bool) {
		left, present := before.allSlots(), after.allSlots()
		if sameLineage(before, after) {
			moved := movedSlots(before, after)
			left, present = moved.All(), moved.All()
			for number := range after.profiles.Unshared(&before.profiles) {
				if before.profiles.Value(number) == after.profiles.Value(number) {
					continue
				}
				for slot := range after.members.Value(number).set().All() {
					if !yield(after.dataplanes.Value(slot).resource) {
						return
					}
				}
			}
		}
		for slot := range left {
			if d := before.dataplanes.Value(slot).resource; d != nil && !yield(d) {
				return
			}
		}
		for slot := range present {
			if d := after.dataplanes.Value(slot).resource; d != nil && !yield(d) {
				return
			}
		}
	}
}

func sameLineage(a, b *State) bool { return a != nil && b != nil && a.lineage == b.lineage }

// movedSlots returns the slots with different entries in two versions of one lineage.
func movedSlots(before, after *State) index.Set {
	var moved index.SetEditor
	for slot := range after.dataplanes.Unshared(&before.dataplanes) {
		if before.dataplanes.Value(slot) != after.dataplanes.Value(slot) {
			moved.Add(slot)
		}
	}
	return moved.Commit()
}

// allSlots yields all slots, free ones too. A nil state has none.
func (m *State) allSlots() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		if m == nil {
			return
		}
		for slot := range m.slots.Limit() {
			if !yield(slot) {
				return
			}
		}
	}
}

// versionOf returns the dataplane with the identity of d, or nil. A nil state has none.
func (m *State) versionOf(d *resource.Dataplane) *resource.Dataplane {
	if m == nil {
		return nil
	}
	return m.Dataplane(d.ID)
}
