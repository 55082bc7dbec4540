package match

import (
	"hash/maphash"
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Population files the dataplanes of a mesh, by the caller's numbers, under
// all their terms, also those that no selector requires: which dataplanes are
// to be looked at once a selector does require it? It belongs to one writer.
//
// A term is known by its hash alone. Where two terms collide, the answer has
// dataplanes that need not have been looked at, and nothing else changes.
type Population struct {
	seed      maphash.Seed
	holders   holders
	old, next []uint64 // memory of Replace
}

// NewPopulation returns a population of nobody.
func NewPopulation() *Population {
	return &Population{seed: maphash.MakeSeed(), holders: newHolders()}
}

// Replace files next under number in place of old; nil stands for none.
func (p *Population) Replace(number uint32, old, next *resource.Dataplane) {
	p.old, p.next = p.keys(p.old[:0], old), p.keys(p.next[:0], next)
	gone, come := p.old, p.next
	for len(gone)+len(come) > 0 {
		switch {
		case len(come) == 0 || len(gone) > 0 && gone[0] < come[0]:
			p.holders.remove(gone[0], number)
			gone = gone[1:]
		case len(gone) == 0 || come[0] < gone[0]:
			p.holders.add(come[0], number)
			come = come[1:]
		default:
			gone, come = gone[1:], come[1:]
		}
	}
}

// keys appends the hashes of a dataplane's terms, sorted and distinct.
func (p *Population) keys(dst []uint64, d *resource.Dataplane) []uint64 {
	if d == nil {
		return dst
	}
	add := func(t term) { dst = append(dst, p.key(t)) }
	for point := range points(d) {
		yieldPointTerms(d, point, add)
	}
	yieldProxyTerms(d, add)
	slices.Sort(dst)
	return slices.Compact(dst)
}

func (p *Population) key(t term) uint64 { return maphash.Comparable(p.seed, t) }

// Reached appends the numbers of the dataplanes whose classes a change of the
// policies may change: those that have a term which selectors began or ceased
// to require. They are sorted and distinct.
func (p *Population) Reached(delta *Delta, dst []uint32) []uint32 {
	from := len(dst)
	for _, t := range delta.terms {
		dst = p.holders.appendTo(p.key(t), dst)
	}
	reached := dst[from:]
	slices.Sort(reached)
	return dst[:from+len(slices.Compact(reached))]
}
