package index

import (
	"fmt"
	"math/rand/v2"
)

// A shape is a population of selectors and an item, with the number of
// selectors that match it.
type shape struct {
	selectors [][]Term // by id
	item      []Term
	selected  int
}

func (s shape) index() *TermIndex {
	e := new(TermIndex).Edit()
	for id, terms := range s.selectors {
		e.Put(uint32(id), terms)
	}
	return e.Commit()
}

// vocabulary assigns dense terms to names.
type vocabulary struct{ names *InternerEditor[string] }

func newVocabulary() vocabulary { return vocabulary{NewInterner[string]().Edit()} }

func (v vocabulary) term(format string, args ...any) Term {
	return Term(v.names.Intern(fmt.Sprintf(format, args...)))
}

// fleet returns the policies of a mesh. Of each ten policies, one selects
// everything, three select one of 50 teams, four select one of 200 services, one
// selects a version of a service, and one selects an app by label. The item is
// an inbound of service 7. Of 10,000 policies, 1,090 match it; they have 651
// distinct conjunctions.
func fleet(n int) shape {
	v := newVocabulary()
	s := shape{selectors: make([][]Term, n)}
	for i := range s.selectors {
		g := i / 10
		switch k := i % 10; {
		case k == 0:
		case k < 4:
			s.selectors[i] = []Term{v.term("team=t%d", g%50)}
		case k < 8:
			s.selectors[i] = []Term{v.term("service=svc-%d", g%200)}
		case k == 8:
			s.selectors[i] = []Term{v.term("service=svc-%d", g%200), v.term("version=v1")}
		case g%2 == 0:
			s.selectors[i] = []Term{v.term("app=svc-%d", g%200), v.term("section=main-port")}
		default:
			s.selectors[i] = []Term{v.term("app=svc-%d", g%200)}
		}
	}
	s.item = SortTerms([]Term{
		v.term("team=t7"), v.term("service=svc-7"), v.term("version=v1"), v.term("zone=east"),
		v.term("app=svc-7"), v.term("section=main-port"),
	})
	s.count()
	return s
}

// sparse returns selectors of one to three terms over a large vocabulary: seven
// of 10,000 match the item of ten terms.
func sparse(n int) shape {
	r := rand.New(rand.NewPCG(17, 18))
	s := shape{selectors: make([][]Term, n)}
	for len(s.item) < 10 {
		s.item = SortTerms(append(s.item, Term(r.IntN(n))))
	}
	for i := range s.selectors {
		for range 1 + r.IntN(3) {
			s.selectors[i] = append(s.selectors[i], Term(r.IntN(n)))
		}
	}
	s.count()
	for k := s.selected; k < 7; k++ {
		s.selectors[n/8*k] = []Term{s.item[k], s.item[k+1]}
	}
	s.count()
	return s
}

// sharedLabel returns sparse with one more term, shared by all selectors and the
// item.
func sharedLabel(n int) shape {
	s := sparse(n)
	shared := Term(n)
	for i := range s.selectors {
		s.selectors[i] = append(s.selectors[i], shared)
	}
	s.item = append(s.item, shared)
	return s
}

// identical returns selectors that all require the same two terms.
func identical(n int) shape {
	s := shape{selectors: make([][]Term, n), item: []Term{1, 2, 3}, selected: n}
	for i := range s.selectors {
		s.selectors[i] = []Term{1, 2}
	}
	return s
}

// crowded returns distinct selectors of ten terms each, out of only 20 terms, so
// that no term is rare. The item has 12 of the terms.
func crowded(n int) shape {
	r := rand.New(rand.NewPCG(19, 20))
	s := shape{selectors: make([][]Term, n)}
	for i := range s.selectors {
		for _, t := range r.Perm(20)[:10] {
			s.selectors[i] = append(s.selectors[i], Term(t))
		}
	}
	for t := range Term(12) {
		s.item = append(s.item, t)
	}
	s.count()
	return s
}

func (s *shape) count() {
	s.selected = 0
	for _, terms := range s.selectors {
		if requires(terms, s.item) {
			s.selected++
		}
	}
}

// requires reports whether the sorted item has all the terms. The tests compare
// the index with this scan.
func requires(terms, item []Term) bool {
	for _, t := range terms {
		if !hasTerm(item, t) {
			return false
		}
	}
	return true
}
