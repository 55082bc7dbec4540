package index

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// Or returns the ids that are in s or in t.
func (s Set) Or(t Set) Set {
	switch {
	case s.Len() == 0:
		return t
	case t.Len() == 0:
		return s
	case s.bits != nil && t.bits != nil:
		return setOfBitmap(roaring.Or(s.bits, t.bits))
	case s.bits == nil && t.bits != nil:
		s, t = t, s
	}
	e := s.Edit()
	for _, id := range t.ids {
		e.Add(id)
	}
	return e.Commit()
}

// And returns the ids that are both in s and in t.
func (s Set) And(t Set) Set {
	if s.bits != nil && t.bits != nil {
		return setOfBitmap(roaring.And(s.bits, t.bits))
	}
	if s.bits != nil {
		s, t = t, s
	}
	var both []uint32
	for _, id := range s.ids {
		if t.Contains(id) {
			both = append(both, id)
		}
	}
	return Set{ids: both}
}

// Equal reports whether s and t have the same ids.
func (s Set) Equal(t Set) bool {
	if s.bits != nil && t.bits != nil {
		return s.bits.Equals(t.bits)
	}
	return s.bits == nil && t.bits == nil && slices.Equal(s.ids, t.ids)
}
