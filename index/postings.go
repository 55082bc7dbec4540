package index

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// Postings is an immutable map from terms to the sets of ids that have them.
// It answers "which ids does this conjunction of terms touch?" The ids' own
// terms are not kept: the caller has them, and says them again when an id
// changes or leaves.
//
// Of 100,000 ids with six terms each, a version in which one has another term
// costs 3.6 µs, one in which an id leaves or joins 19 µs, and an id takes 29
// bytes (BenchmarkPostingsChange).
//
// The zero Postings is empty.
type Postings struct {
	sets Vector[Set] // by term
	all  Set
}

// All returns the set of all ids, also of those without any term.
func (p *Postings) All() Set { return p.all }

// Set returns the ids that have t.
func (p *Postings) Set(t Term) Set { return p.sets.Value(uint32(t)) }

// Intersection returns the ids that have all of the terms; without terms, all
// ids. The terms may come in any order and more than once.
func (p *Postings) Intersection(terms []Term) Set {
	if len(terms) == 0 {
		return p.all
	}
	least := p.rarest(terms)
	s := p.Set(terms[least])
	if len(terms) == 1 || s.Len() == 0 {
		return s
	}
	if s.bits == nil {
		return Set{ids: p.filter(slices.Clone(s.ids), terms, least)}
	}
	return p.combine(s, terms, least)
}

// Intersect appends to dst, ascending, the ids of [Postings.Intersection]. It
// allocates only if dst lacks the room, or if each of the terms has so many ids
// that bitmaps are combined.
func (p *Postings) Intersect(terms []Term, dst []uint32) []uint32 {
	if len(terms) == 0 {
		return p.all.AppendTo(dst)
	}
	least := p.rarest(terms)
	s := p.Set(terms[least])
	if len(terms) == 1 {
		return s.AppendTo(dst)
	}
	if s.bits == nil {
		from := len(dst)
		dst = append(dst, s.ids...)
		return dst[:from+len(p.filter(dst[from:], terms, least))]
	}
	return p.combine(s, terms, least).AppendTo(dst)
}

// rarest returns the position of the term that has the fewest ids.
func (p *Postings) rarest(terms []Term) int {
	least, n := 0, 0
	for i, t := range terms {
		s := p.sets.Get(uint32(t))
		if s == nil {
			return i
		}
		if k := s.Len(); i == 0 || k < n {
			least, n = i, k
		}
	}
	return least
}

// filter keeps, in place, those of the sorted ids that have all terms but the
// one at position done.
func (p *Postings) filter(ids []uint32, terms []Term, done int) []uint32 {
	for i, t := range terms {
		if i != done {
			ids = p.Set(t).appendMembers(ids[:0], ids)
		}
	}
	return ids
}

// combine is filter for the ids of a bitmap: containers are combined as wholes
// until few ids are left.
func (p *Postings) combine(s Set, terms []Term, done int) Set {
	bits := s.bits
	for i, t := range terms {
		if i == done {
			continue
		}
		bits = roaring.And(bits, p.Set(t).bits) // no set has fewer ids than s, which is a bitmap
		if bits.IsEmpty() {
			return Set{}
		}
	}
	return setOfBitmap(bits)
}
