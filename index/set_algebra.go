package index

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// And returns the ids that are in both sets.
func (s Set) And(t Set) Set {
	if s.bits != nil && t.bits != nil {
		return setOfBitmap(roaring.And(s.bits, t.bits))
	}
	if s.bits != nil || t.bits == nil && len(s.ids) > len(t.ids) {
		s, t = t, s
	}
	return Set{ids: t.appendMembers(nil, s.ids)}
}

// appendMembers appends to dst those of the sorted ids that are in s. dst may
// be ids[:0].
func (s Set) appendMembers(dst, ids []uint32) []uint32 {
	if s.bits != nil {
		for _, id := range ids {
			if s.bits.Contains(id) {
				dst = append(dst, id)
			}
		}
		return dst
	}
	if len(s.ids) < gallopAt*len(ids) {
		at := 0
		for _, id := range ids {
			for at < len(s.ids) && s.ids[at] < id {
				at++
			}
			if at == len(s.ids) {
				break
			}
			if s.ids[at] == id {
				dst = append(dst, id)
			}
		}
		return dst
	}
	rest := s.ids
	for _, id := range ids {
		rest = rest[skipTo(rest, id):]
		if len(rest) == 0 {
			break
		}
		if rest[0] == id {
			dst = append(dst, id)
		}
	}
	return dst
}

// gallopAt is how many times longer a list must be for galloping through it to
// beat stepping through it (8 ids in 64: 65 against 45 ns; 8 in 128: 75 against
// 90 ns).
const gallopAt = 16

// skipTo returns the position of the first of the sorted ids that is not below
// id. It gallops: the cost is the logarithm of that position, so that a walk
// over two lists costs the shorter one times the logarithm of the gaps.
func skipTo(ids []uint32, id uint32) int {
	if len(ids) == 0 || ids[0] >= id {
		return 0
	}
	step := 1
	for step < len(ids) && ids[step] < id {
		step *= 2
	}
	from := step/2 + 1
	at, _ := slices.BinarySearch(ids[from:min(step+1, len(ids))], id)
	return from + at
}

// Or returns the ids that are in either set.
func (s Set) Or(t Set) Set {
	switch {
	case s.bits != nil && t.bits != nil:
		return Set{bits: roaring.Or(s.bits, t.bits)}
	case t.bits != nil:
		s, t = t, s
		fallthrough
	case s.bits != nil:
		if len(t.ids) == 0 {
			return s
		}
		b := s.bits.Clone()
		b.AddMany(t.ids)
		return Set{bits: b}
	case len(s.ids) == 0:
		return t
	case len(t.ids) == 0:
		return s
	}
	both := make([]uint32, 0, len(s.ids)+len(t.ids))
	a, b := s.ids, t.ids
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			both, a = append(both, a[0]), a[1:]
		case a[0] > b[0]:
			both, b = append(both, b[0]), b[1:]
		default:
			both, a, b = append(both, a[0]), a[1:], b[1:]
		}
	}
	return setOfSorted(append(append(both, a...), b...))
}

// AndNot returns the ids of s that are not in t.
func (s Set) AndNot(t Set) Set {
	switch {
	case t.Len() == 0:
		return s
	case s.bits != nil && t.bits != nil:
		return setOfBitmap(roaring.AndNot(s.bits, t.bits))
	case s.bits != nil:
		b := s.bits.Clone()
		for _, id := range t.ids {
			b.Remove(id)
		}
		return setOfBitmap(b)
	}
	var left []uint32
	for _, id := range s.ids {
		if !t.Contains(id) {
			left = append(left, id)
		}
	}
	return Set{ids: left}
}
