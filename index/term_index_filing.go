package index

import "slices"

// Commit publishes the next version: it drops the conjunctions that lost their
// last selector, files the new ones, and checks the filing of some others.
func (e *TermIndexEditor) Commit() *TermIndex {
	changes := 0
	kept := e.open[:0]
	for _, o := range e.open {
		if o.ids.Len() == 0 {
			e.drop(o)
			changes++
		} else {
			kept = append(kept, o)
		}
	}
	for _, o := range kept { // after all drops, when the counts are up to date
		o.conjunction.ids = o.ids.Commit()
		if o.isNew {
			e.file(o.conjunction)
			changes++
		} else {
			e.replaceFiled(o.conjunction)
		}
	}
	e.open = nil // clearing it would cost as much as the largest transaction so far
	e.refile(sweepPerChange * changes)
	return &TermIndex{
		selectors:    e.selectors.Commit(),
		conjunctions: e.conjunctions.commit(),
		byTerms:      e.byTerms.commit(),
		terms:        e.terms.Commit(),
		always:       e.always,
		sweep:        e.sweep,
	}
}

func (e *TermIndexEditor) drop(o openConjunction) {
	c := o.conjunction
	if !o.isNew {
		e.unfile(c)
	}
	for _, t := range c.terms {
		e.terms.Mut(uint32(t)).required--
	}
	e.byTerms.remove(hashTerms(c.terms), c.number)
	e.conjunctions.remove(c.number)
}

// file files c under its rarest term.
func (e *TermIndexEditor) file(c *conjunction) {
	if len(c.terms) == 0 {
		e.always = c
		return
	}
	c.filed = e.rarest(c.terms)
	p := e.own(c.filed)
	p.filed = append(p.filed, filedConjunction{signature(c.terms), c})
}

func (e *TermIndexEditor) unfile(c *conjunction) {
	if len(c.terms) == 0 {
		e.always = nil
		return
	}
	if len(e.terms.Get(uint32(c.filed)).filed) == 1 {
		*e.terms.Mut(uint32(c.filed)) = termPostings{owner: e.terms.owner, required: e.terms.Get(uint32(c.filed)).required}
		return
	}
	p := e.own(c.filed)
	at := p.find(c.number)
	p.filed = slices.Delete(p.filed, at, at+1)
}

// replaceFiled replaces the earlier version of c by c.
func (e *TermIndexEditor) replaceFiled(c *conjunction) {
	if len(c.terms) == 0 {
		e.always = c
		return
	}
	p := e.own(c.filed)
	p.filed[p.find(c.number)].conjunction = c
}

func (p *termPostings) find(number uint32) int {
	return slices.IndexFunc(p.filed, func(c filedConjunction) bool { return c.number == number })
}

// own returns the postings of t with a writable list.
func (e *TermIndexEditor) own(t Term) *termPostings {
	p := e.terms.Mut(uint32(t))
	if p.owner != e.terms.owner {
		p.owner = e.terms.owner
		p.filed = append(make([]filedConjunction, 0, len(p.filed)+1), p.filed...)
	}
	return p
}

// rarest returns the term that the fewest conjunctions require. Among equally
// rare terms it returns the one under which the fewest conjunctions are filed;
// among these, the first.
func (e *TermIndexEditor) rarest(terms []Term) Term {
	best := terms[0]
	p := e.terms.Get(uint32(best))
	for _, t := range terms[1:] {
		q := e.terms.Get(uint32(t))
		if q.required < p.required || q.required == p.required && len(q.filed) < len(p.filed) {
			best, p = t, q
		}
	}
	return best
}

// refile checks the next n conjunctions. It files a conjunction again if its term
// is at least twice as common as its rarest one.
func (e *TermIndexEditor) refile(n int) {
	for range min(n, int(e.conjunctions.limit)) {
		if e.sweep >= e.conjunctions.limit {
			e.sweep = 0
		}
		c := e.conjunctions.get(e.sweep).value
		e.sweep++
		if c == nil || len(c.terms) < 2 {
			continue
		}
		best := e.rarest(c.terms)
		if e.terms.Get(uint32(c.filed)).required < 2*e.terms.Get(uint32(best)).required {
			continue
		}
		e.unfile(c)
		moved := *c
		e.file(&moved)
		e.conjunctions.mut(moved.number).value = &moved
	}
}
