package index

import "slices"

// A TermIndexEditor makes the next version of a TermIndex.
//
// New conjunctions are filed at commit, when the counts of the whole transaction
// are known. A conjunction is filed well while its term is at most twice as common
// as its rarest one. To maintain this while selectors are added and removed, each
// commit checks some conjunctions again, cyclically in the order of their numbers:
// sweepPerChange for each conjunction that it added or dropped. So filing adapts
// to any change of the selectors, no commit checks all conjunctions, and the same
// edits always file in the same way.
type TermIndexEditor struct {
	selectors    VectorEditor[uint32]
	conjunctions slabEditor[*conjunction]
	byTerms      hashTableEditor
	terms        VectorEditor[termPostings]
	always       *conjunction
	sweep        uint32

	open   []openConjunction // in the order of the first touch
	sorted []Term            // scratch of Put

	// The first memory of open and sorted: most transactions change one selector of a few terms.
	openRoom   [2]openConjunction
	sortedRoom [8]Term
}

// An openConjunction is a conjunction whose selectors change in this
// transaction.
type openConjunction struct {
	conjunction *conjunction // private until commit
	ids         SetEditor    // the next version of its ids
	isNew       bool         // not filed yet
}

// sweepPerChange is the number of conjunctions that are checked again for each one
// that was added or dropped. With two, all are checked before the index has doubled
// or halved.
const sweepPerChange = 2

// Edit returns an editor that starts from x.
func (x *TermIndex) Edit() *TermIndexEditor {
	e := &TermIndexEditor{
		selectors:    x.selectors.Edit(),
		conjunctions: x.conjunctions.edit(),
		byTerms:      x.byTerms.edit(),
		terms:        x.terms.Edit(),
		always:       x.always,
		sweep:        x.sweep,
	}
	e.open, e.sorted = e.openRoom[:0], e.sortedRoom[:0]
	return e
}

// Put sets the terms that the selector id requires, and replaces its previous
// terms. The terms may be in any order and repeated; Put does not retain the
// slice.
func (e *TermIndexEditor) Put(id uint32, terms []Term) {
	e.sorted = SortTerms(append(e.sorted[:0], terms...))
	hash := hashTerms(e.sorted)
	number, ok := e.byTerms.find(hash, func(number uint32) bool {
		return slices.Equal(e.conjunctions.get(number).value.terms, e.sorted)
	})
	ref := e.selectors.Value(id)
	if ok && ref == number+1 {
		return
	}
	if ref != 0 {
		e.edit(ref - 1).ids.Remove(id)
	}
	if !ok {
		number = e.create(hash, slices.Clone(e.sorted))
	}
	e.edit(number).ids.Add(id)
	*e.selectors.Mut(id) = number + 1
}

// Remove removes the selector and reports whether it was present.
func (e *TermIndexEditor) Remove(id uint32) bool {
	ref := e.selectors.Value(id)
	if ref == 0 {
		return false
	}
	e.edit(ref - 1).ids.Remove(id)
	*e.selectors.Mut(id) = 0
	return true
}

// create adds the conjunction of terms, without selectors.
func (e *TermIndexEditor) create(hash uint32, terms []Term) (number uint32) {
	c := &conjunction{terms: terms, open: len(e.open)}
	c.number = e.conjunctions.add(c)
	e.byTerms.insert(hash, c.number)
	for _, t := range terms {
		e.terms.Mut(uint32(t)).required++
	}
	e.open = append(e.open, openConjunction{conjunction: c, isNew: true})
	return c.number
}

// edit opens a conjunction. The pointer is valid until the next one is opened.
func (e *TermIndexEditor) edit(number uint32) *openConjunction {
	c := e.conjunctions.get(number).value
	if c.open < len(e.open) && e.open[c.open].conjunction == c {
		return &e.open[c.open]
	}
	opened := *c
	opened.open = len(e.open)
	e.conjunctions.mut(number).value = &opened
	e.open = append(e.open, openConjunction{conjunction: &opened, ids: opened.ids.Edit()})
	return &e.open[opened.open]
}

// hashTerms needs no seed, because terms are dense numbers that no user
// chooses. h starts from a large number. With a small one, some first term
// would make h zero, and hashTerms would ignore this term.
func hashTerms(terms []Term) uint32 {
	const prime = 0x9e37_79b9_7f4a_7c15
	h := prime + uint64(len(terms))
	for _, t := range terms {
		h = (h ^ uint64(t)) * prime
		h ^= h >> 29
	}
	return uint32(h * prime >> 32)
}
