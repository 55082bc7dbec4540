package index

import (
	"iter"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// A Set is an immutable set of ids. The zero Set is empty.
//
// A set of up to smallSet ids is a sorted slice; a larger set is a roaring
// bitmap. Each set of ids has exactly one shape, so comparing and combining need
// no case for a small bitmap.
//
// A bitmap in a Set is never written again. Roaring's copy-on-write is off:
// otherwise Clone would mark containers in its source and race with readers of a
// published set.
type Set struct {
	ids  []uint32        // the small shape: sorted, distinct; nil if bits is set
	bits *roaring.Bitmap // the large shape: more than smallSet ids
}

// smallSet is the largest number of ids that is stored as a slice. Near this size
// both shapes take about the same memory and the same time to edit. Below it, the
// slice is faster in every operation (BenchmarkSetShape, slice : bitmap):
//
//	        64 ids            128 ids
//	bytes   256 : 220         512 : 348
//	edit    229 : 300 ns      354 : 333 ns
//	append    8 :  52 ns        8 :  89 ns
const smallSet = 64

// setOfBitmap returns the set of b in the shape for its size. It may retain b.
func setOfBitmap(b *roaring.Bitmap) Set {
	if n := b.GetCardinality(); n <= smallSet {
		if n == 0 {
			return Set{}
		}
		return Set{ids: b.ToArray()}
	}
	return Set{bits: b}
}

// Len returns the number of ids.
func (s Set) Len() int {
	if s.bits != nil {
		return int(s.bits.GetCardinality())
	}
	return len(s.ids)
}

// Contains reports whether id is in the set.
func (s Set) Contains(id uint32) bool {
	if s.bits != nil {
		return s.bits.Contains(id)
	}
	_, found := slices.BinarySearch(s.ids, id)
	return found
}

// All yields the ids in ascending order.
func (s Set) All() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		if s.bits != nil {
			s.bits.Iterate(yield)
			return
		}
		for _, id := range s.ids {
			if !yield(id) {
				return
			}
		}
	}
}

// AppendTo appends the ids to dst in ascending order. It allocates only if the
// capacity of dst is too small.
func (s Set) AppendTo(dst []uint32) []uint32 {
	if s.bits == nil {
		return append(dst, s.ids...)
	}
	from, n := len(dst), s.Len()
	dst = slices.Grow(dst, n)[:from+n]
	tail := dst[from:]
	s.bits.ToExistingArray(&tail)
	return dst
}

// AndNot returns the ids of s that are not in t.
func (s Set) AndNot(t Set) Set {
	switch {
	case t.Len() == 0:
		return s
	case s.bits != nil && t.bits != nil:
		return setOfBitmap(roaring.AndNot(s.bits, t.bits))
	case s.bits != nil:
		e := s.Edit()
		e.RemoveAll(t)
		return e.Commit()
	}
	var left []uint32
	for _, id := range s.ids {
		if !t.Contains(id) {
			left = append(left, id)
		}
	}
	return Set{ids: left}
}
