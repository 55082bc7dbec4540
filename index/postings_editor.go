package index

import "slices"

// Edit returns an editor that starts from p.
func (p *Postings) Edit() *PostingsEditor {
	return &PostingsEditor{sets: p.sets.Edit(), all: p.all.Edit(), place: map[Term]int{}}
}

// A PostingsEditor makes the next version of Postings. A set that an edit
// touches is copied once per commit, however many ids come and go.
type PostingsEditor struct {
	sets    VectorEditor[Set]
	all     SetEditor
	touched []touchedTerm // in the order of the first touch
	place   map[Term]int  // in touched
}

type touchedTerm struct {
	term Term
	set  SetEditor
}

func (e *PostingsEditor) edit(t Term) *SetEditor {
	at, ok := e.place[t]
	if !ok {
		at = len(e.touched)
		e.place[t] = at
		e.touched = append(e.touched, touchedTerm{t, e.sets.Value(uint32(t)).Edit()})
	}
	return &e.touched[at].set
}

// Add adds id with its terms; of an id that is there, it adds the terms that it
// did not have.
func (e *PostingsEditor) Add(id uint32, terms []Term) {
	e.all.Add(id)
	for _, t := range terms {
		e.edit(t).Add(id)
	}
}

// Remove removes id. The terms must be all those that it was added with: the
// id stays under a term that is not named.
func (e *PostingsEditor) Remove(id uint32, terms []Term) {
	e.all.Remove(id)
	for _, t := range terms {
		e.edit(t).Remove(id)
	}
}

// Replace gives id, which had the terms old, the terms next. Sets of terms that
// are in both are not touched.
func (e *PostingsEditor) Replace(id uint32, old, next []Term) {
	e.all.Add(id)
	for _, t := range old {
		if !slices.Contains(next, t) {
			e.edit(t).Remove(id)
		}
	}
	for _, t := range next {
		if !slices.Contains(old, t) {
			e.edit(t).Add(id)
		}
	}
}

// Commit publishes the next version.
func (e *PostingsEditor) Commit() *Postings {
	for i := range e.touched {
		t := &e.touched[i]
		*e.sets.Mut(uint32(t.term)) = t.set.Commit()
	}
	e.touched, e.place = nil, map[Term]int{} // clearing would cost what the largest transaction did
	return &Postings{sets: e.sets.Commit(), all: e.all.Commit()}
}
