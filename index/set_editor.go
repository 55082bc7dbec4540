package index

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// A SetEditor makes the next version of a Set. The zero editor starts from the
// empty set. It copies the set at the first change, and changes its own copy
// until Commit.
type SetEditor struct {
	// As in Set, except that the shape may not fit the size until Commit.
	ids   []uint32
	bits  *roaring.Bitmap
	owned bool // ids or bits is not published
}

// Edit returns an editor that starts from s.
func (s Set) Edit() SetEditor {
	return SetEditor{ids: s.ids, bits: s.bits}
}

// Add adds id and reports whether it was missing.
func (e *SetEditor) Add(id uint32) bool {
	if e.bits != nil {
		if !e.owned && e.bits.Contains(id) {
			return false
		}
		e.own()
		return e.bits.CheckedAdd(id)
	}
	at := len(e.ids)
	if at > 0 && e.ids[at-1] >= id { // ids that are added in ascending order need no search
		var found bool
		if at, found = slices.BinarySearch(e.ids, id); found {
			return false
		}
	}
	if len(e.ids) == smallSet {
		b := roaring.New()
		b.AddMany(e.ids)
		b.Add(id)
		e.ids, e.bits, e.owned = nil, b, true
		return true
	}
	e.own()
	e.ids = slices.Insert(e.ids, at, id)
	return true
}

// Remove removes id and reports whether it was present.
func (e *SetEditor) Remove(id uint32) bool {
	if e.bits != nil {
		if !e.owned && !e.bits.Contains(id) {
			return false
		}
		e.own()
		return e.bits.CheckedRemove(id)
	}
	at, found := slices.BinarySearch(e.ids, id)
	if !found {
		return false
	}
	if len(e.ids) == 1 && !e.owned {
		e.ids = nil // a copy is not needed
		return true
	}
	e.own()
	e.ids = slices.Delete(e.ids, at, at+1)
	return true
}

// RemoveAll removes the ids of a set.
func (e *SetEditor) RemoveAll(s Set) {
	if e.bits != nil && s.bits != nil {
		e.own()
		e.bits.AndNot(s.bits)
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
	if e.bits != nil {
		e.bits = e.bits.Clone() // all containers are copied: copy-on-write is off
		return
	}
	ids := make([]uint32, len(e.ids), len(e.ids)+1) // most edits add one id
	copy(ids, e.ids)
	e.ids = ids
}

// Len returns the number of ids.
func (e *SetEditor) Len() int {
	if e.bits != nil {
		return int(e.bits.GetCardinality())
	}
	return len(e.ids)
}

// AppendTo appends the ids to dst in ascending order, without publishing them.
func (e *SetEditor) AppendTo(dst []uint32) []uint32 {
	return Set{ids: e.ids, bits: e.bits}.AppendTo(dst)
}

// Commit publishes the set. The editor may be used again: it copies the set
// again at the next change.
func (e *SetEditor) Commit() Set {
	if !e.owned {
		return Set{ids: e.ids, bits: e.bits}
	}
	var s Set
	switch {
	case e.bits != nil:
		s = setOfBitmap(e.bits)
	case len(e.ids) > 0:
		s.ids = e.ids
	}
	e.ids, e.bits, e.owned = s.ids, s.bits, false
	return s
}
