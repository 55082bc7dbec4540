package access

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/permission"
)

// Difference is a pair of deciding entries with different decisions, before and after an
// edit, and a request that they decide.
type Difference struct {
	Before, After Decision
	Witness       *Witness
}

// Compare returns the differences of two lists, in the order of the entries of the first,
// then of the second list; a decision by default comes last. If there is no difference,
// both lists decide every request equally. The error is a [*LimitError].
func Compare(space *Space, before, after *List, limits Limits) ([]Difference, error) {
	s := newSearch(compile(space, before, after).compiled(), limits)
	s.done = func(lists [][]item) bool { return equalLists(lists[0], lists[1]) || sameOutcome(lists[0], lists[1]) }
	found := map[[2]*permission.Place]bool{}
	var out []Difference
	s.visit = func(lists [][]item) error {
		d := Difference{Before: decision(lists[0]), After: decision(lists[1])}
		pair := [2]*permission.Place{d.Before.By, d.After.By}
		if found[pair] {
			return nil
		}
		found[pair] = true
		var err error
		if d.Witness, err = s.witness(); err != nil {
			return err
		}
		out = append(out, d)
		return nil
	}
	if err := s.run(); err != nil {
		return nil, err
	}
	sortBy(out, func(d *Difference) [2]int {
		return [2]int{placeIn(before, d.Before.By), placeIn(after, d.After.By)}
	})
	return out, nil
}

// Opens returns a request that a list allows although two other lists deny it; nil if there
// is none. The error is a [*LimitError].
func Opens(space *Space, list, other, another *List, limits Limits) (*Witness, error) {
	s := newSearch(compile(space, list, other, another).compiled(), limits)
	var witness *Witness
	s.done = func(lists [][]item) bool {
		if witness != nil {
			return true
		}
		for i, l := range lists {
			if allow, ok := outcome(l); ok && allow != (i == 0) {
				return true
			}
		}
		return false
	}
	s.visit = func([][]item) (err error) {
		witness, err = s.witness()
		return err
	}
	err := s.run()
	return witness, err
}

// equalLists reports whether two lists have equal conditions and decisions.
func equalLists(a, b []item) bool {
	return slices.EqualFunc(a, b, func(a, b item) bool { return a.contentID == b.contentID && a.left == b.left })
}

func sameOutcome(a, b []item) bool {
	x, ok := outcome(a)
	y, also := outcome(b)
	return ok && also && x == y
}

// Region contains all requests of a [Requests] that one entry decides, or that no entry decides.
// It has at least one request.
type Region struct {
	Decision
	Witness *Witness
}

// Regions returns the regions of a list within a set of requests, in the order of the
// entries; the region that no entry decides comes last. A nil set contains all requests.
// The error is a [*LimitError].
func Regions(space *Space, list *List, within *Requests, limits Limits) ([]Region, error) {
	c := compile(space, list)
	c.addSet(within)
	return regionsOf(c.compiled(), list, limits)
}

// regionsOf returns the regions of the first list of a problem within the second one, if
// there is one.
func regionsOf(p *problem, list *List, limits Limits) ([]Region, error) {
	s := newSearch(p, limits)
	var out []Region
	s.regions(func(d Decision) error {
		witness, err := s.witness()
		out = append(out, Region{d, witness})
		return err
	})
	if err := s.run(); err != nil {
		return nil, err
	}
	sortBy(out, func(r *Region) [2]int { return [2]int{placeIn(list, r.By), 0} })
	return out, nil
}

// regions prepares the search for the regions of the first list within the second list, if
// there is one. The search calls visit once for each region, in any order.
func (s *search) regions(visit func(Decision) error) {
	found := map[*permission.Place]bool{}
	s.done = func(lists [][]item) bool {
		if len(lists) > 1 {
			if allow, ok := outcome(lists[1]); ok && !allow {
				return true
			}
		}
		for i := range lists[0] {
			if !found[decision(lists[0][i:]).By] {
				return false
			}
		}
		last := len(lists[0]) - 1
		return found[nil] || last >= 0 && lists[0][last].left == 0
	}
	s.visit = func(lists [][]item) error {
		d := decision(lists[0])
		if found[d.By] {
			return nil
		}
		found[d.By] = true
		return visit(d)
	}
}

// Needless returns, in order, the entries without which every request has the same
// decision. Each is needless by itself: two equal entries are both needless, but not both
// together. The error is a [*LimitError].
func Needless(space *Space, list *List, known map[permission.Place]bool, limits Limits) ([]*Entry, error) {
	s := newSearch(compile(space, list).compiled(), limits)
	s.keepShadowed = true
	needed := map[*Entry]bool{}
	for i := range list.Entries {
		if e := &list.Entries[i]; known[*e.By] {
			needed[e] = true
		}
	}
	var first *item // the item that decides; nil: the search has not passed it yet
	s.done = func(lists [][]item) bool {
		switch list := lists[0]; {
		case first != nil:
			allow, ok := outcome(list)
			return needed[first.entry] || ok && allow == first.allow
		default:
			return !slices.ContainsFunc(list, func(it item) bool { return !needed[it.entry] })
		}
	}
	s.visit = func(lists [][]item) error {
		switch {
		case len(lists[0]) == 0 && first == nil:
			return nil
		case first == nil:
			first = &lists[0][0]
			defer func() { first = nil }()
			return s.divide([][]item{lists[0][1:]})
		}
		needed[first.entry] = needed[first.entry] || decision(lists[0]).Allow != first.allow
		return nil
	}
	if err := s.run(); err != nil {
		return nil, err
	}
	var out []*Entry
	for i := range list.Entries {
		if e := &list.Entries[i]; !needed[e] {
			out = append(out, e)
		}
	}
	return out, nil
}

// Overlap reports whether some request matches both entries. The error is a
// [*LimitError].
func Overlap(space *Space, a, b *Entry, limits Limits) (bool, error) {
	x, y := a.match(), b.match()
	if !mayOverlap(&x, &y) {
		return false, nil
	}
	first, second := *a, *b
	first.Allow, second.Allow = false, true
	differences, err := Compare(space, &List{Entries: []Entry{first, second}}, &List{Entries: []Entry{second}}, limits)
	return len(differences) > 0, err
}

// Within reports whether each request that matches the first entry also matches the second
// one. The error is a [*LimitError].
func Within(space *Space, inner, outer *Entry, limits Limits) (bool, error) {
	x, y := inner.match(), outer.match()
	if inner.ValueScope == outer.ValueScope && covers(&y, &x) {
		return true, nil
	}
	first, second := *outer, *inner
	first.Allow, second.Allow = false, true
	differences, err := Compare(space, &List{Entries: []Entry{first, second}}, &List{}, limits)
	return err == nil && len(differences) == 0, err
}
