package index

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// A SetEditor makes the next version of a Set. The zero editor starts from the
// empty set. It copies the set at the first change, and changes its own copy
// until Commit.
type SetEditor struct {
	set   Set  // its shape may not fit the size until Commit
	owned bool // ids or bits is not published
}

// Edit returns an editor that starts from s.
func (s Set) Edit() SetEditor { return SetEditor{set: s} }

// Add adds id and reports whether it was missing.
func (e *SetEditor) Add(id uint32) bool {
	if e.set.bits != nil {
		if !e.owned && e.set.bits.Contains(id) {
			return false
		}
		e.own()
		return e.set.bits.CheckedAdd(id)
	}
	at := len(e.set.ids)
	if at > 0 && e.set.ids[at-1] >= id { // ids that are added in ascending order need no search
		var found bool
		if at, found = slices.BinarySearch(e.set.ids, id); found {
			return false
		}
	}
	if len(e.set.ids) == smallSet {
		b := roaring.New()
		b.AddMany(e.set.ids)
		b.Add(id)
		e.set, e.owned = Set{bits: b}, true
		return true
	}
	e.own()
	e.set.ids = slices.Insert(e.set.ids, at, id)
	return true
}

// Remove removes id and reports whether it was present.
func (e *SetEditor) Remove(id uint32) bool {
	if e.set.bits != nil {
		if !e.owned && !e.set.bits.Contains(id) {
			return false
		}
		e.own()
		return e.set.bits.CheckedRemove(id)
	}
	at, found := slices.BinarySearch(e.set.ids, id)
	if !found {
		return false
	}
	if len(e.set.ids) == 1 && !e.owned {
		e.set.ids = nil // a copy is not needed
		return true
	}
	e.own()
	e.set.ids = slices.Delete(e.set.ids, at, at+1)
	return true
}

// RemoveAll removes the ids of a set.
func (e *SetEditor) RemoveAll(s Set) {
	if e.set.bits != nil && s.bits != nil {
		e.own()
		e.set.bits.AndNot(s.bits)
		return
	}
	if e.Len() > s.Len() {
		for id := range s.All() {
			e.Remove(id)
		}
		return
	}
	for _, id := range e.AppendTo(nil) {
		if s.Contains(id) {
			e.Remove(id)
		}
	}
}

// own makes ids or bits writable.
func (e *SetEditor) own() {
	if e.owned {
		return
	}
	e.owned = true
	if e.set.bits != nil {
		e.set.bits = e.set.bits.Clone() // all containers are copied: copy-on-write is off
		return
	}
	ids := make([]uint32, len(e.set.ids), len(e.set.ids)+1) // most edits add one id
	copy(ids, e.set.ids)
	e.set.ids = ids
}

// Len returns the number of ids.
func (e *SetEditor) Len() int { return e.set.Len() }

// AppendTo appends the ids to dst in ascending order, without publishing them.
func (e *SetEditor) AppendTo(dst []uint32) []uint32 { return e.set.AppendTo(dst) }

// Commit publishes the set. The editor may be used again: it copies the set
// again at the next change.
func (e *SetEditor) Commit() Set {
	switch {
	case !e.owned:
	case e.set.bits != nil:
		e.set = setOfBitmap(e.set.bits)
	case len(e.set.ids) == 0:
		e.set.ids = nil
	}
	e.owned = false
	return e.set
}
