package access

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/regex/language"
	"github.com/meshmatch/meshmatch/core/permission"
)

// A LimitError indicates that a question exceeds its [Limits].
type LimitError struct {
	What  string            // what exceeds the limit
	Place *permission.Place // of the entry; nil: no single entry
}

// Error describes the question that exceeds the limit.
func (e *LimitError) Error() string { return "unknown: " + e.What }

// search divides the requests of a problem until its lists are decided.
type search struct {
	*problem
	limits Limits
	work   int // the steps that are left
	// states contains the known state of each variable, for the current requests.
	states []state
	// done reports whether the requests need no further division.
	done func(lists [][]item) bool
	// visit is called for requests that are not done, once each list is decided.
	visit func(lists [][]item) error
	found map[string]answer // searches for texts
	tries int
	universes
	// keepShadowed makes a search keep the items that an earlier item hides because all
	// requests match it.
	keepShadowed bool
}

// item is a rule with a bit for each test that is not decided yet.
type item struct {
	*rule
	left uint64
}

// state is the knowledge about a variable.
type state struct {
	kind stateKind
	text string         // of one and like
	trie *language.Trie // of like, if expressions compare the variable
	// division is the number of the trie.
	division int
	// in contains the expressions that match, out the expressions that do not.
	in, out []int
}

type stateKind uint8

const (
	free   stateKind = iota // unknown, or known only by expressions
	absent                  // the variable is absent
	one                     // the variable is the text
	like                    // the variable is one of the texts that a trie does not distinguish from the text
)

type answer struct {
	text string
	ok   bool
}

func newSearch(p *problem, limits Limits) *search {
	return &search{problem: p, limits: limits, work: limits.steps(), states: make([]state, len(p.variables)), found: map[string]answer{}, universes: universes{}}
}

func (s *search) run() error {
	if s.err != nil {
		return s.err
	}
	if left := s.limits.Left; left != nil {
		before := s.work
		defer func() { *left -= before - max(s.work, 0) }()
	}
	lists, err := s.know(s.items())
	if err != nil {
		return err
	}
	return s.divide(lists)
}

// items returns the lists with every test undecided.
func (s *search) items() [][]item {
	lists := make([][]item, len(s.lists))
	for i, rules := range s.lists {
		lists[i] = make([]item, len(rules))
		for k := range rules {
			lists[i][k] = item{&rules[k], 1<<len(rules[k].tests) - 1}
		}
		lists[i] = s.untilDecided(lists[i])
	}
	return lists
}

// know simplifies the lists by what is known about the requests.
func (s *search) know(lists [][]item) ([][]item, error) {
	for v := range s.variables {
		known, ok := s.known(s.variables[v])
		if !ok {
			continue
		}
		s.states[v] = known
		next := make([][]item, len(lists))
		for i, list := range lists {
			if err := s.spend(len(list)); err != nil {
				return nil, err
			}
			for _, it := range list {
				if it, ok := s.restrict(it, v, known.text, known.kind == absent); ok {
					next[i] = append(next[i], it)
				}
			}
			next[i] = s.untilDecided(next[i])
		}
		lists = next
	}
	return lists, nil
}

// known returns the state of a variable that the space determines.
func (s *search) known(v variable) (state, bool) {
	if s.space.partial != nil {
		if known, ok := s.space.partial.state(v); ok {
			return known, true
		}
	}
	switch {
	case s.space.hides(v):
		return state{kind: absent}, true
	case s.space.Client == nil || v.part > tag:
		return state{}, false
	case v.part == tag:
		if value, ok := s.space.Client.Tags.Get(v.name); ok {
			return state{kind: one, text: value}, true
		}
	case s.space.Client.SpiffeID != "":
		return state{kind: one, text: s.space.Client.SpiffeID}, true
	}
	return state{kind: absent}, true
}

// hides reports whether no request of the space has a variable.
func (s *Space) hides(v variable) bool {
	return s.Plain && v.part <= sni || s.NoTags && v.part == tag
}

// restrict returns an item for requests in which a variable has a text or is absent; ok is
// false if the item matches no such request.
func (s *search) restrict(it item, v int, text string, absent bool) (_ item, ok bool) {
	for left := it.left; left != 0; left &= left - 1 {
		k := bits.TrailingZeros64(left)
		t := &it.tests[k]
		if t.variable != v {
			continue
		}
		holds := false
		switch {
		case t.how != matches:
			holds = t.holds(text, absent)
		case !absent:
			holds = language.Contains(s.expressions[t.expression], text) != t.negated
		}
		if !holds {
			return item{}, false
		}
		it.left &^= 1 << k
	}
	return it, true
}

// untilDecided cuts a list after the first item that all requests match.
func (s *search) untilDecided(list []item) []item {
	for i := range list {
		if list[i].left == 0 && !s.keepShadowed {
			return list[:i+1]
		}
	}
	return list
}

// decided reports whether one item decides all requests, or no item decides
// any.
func decided(list []item) bool { return len(list) == 0 || list[0].left == 0 }

// outcome returns the only decision that a list can still have; ok is false if there are
// two.
func outcome(list []item) (allow, ok bool) {
	if len(list) == 0 {
		return false, true
	}
	allow = list[0].allow
	for i := range list {
		if list[i].allow != allow {
			return false, false
		}
	}
	return allow, !allow || slices.ContainsFunc(list, func(it item) bool { return it.left == 0 })
}

// divide divides the requests by the first variable that is compared with values or, if
// there is none, by an expression.
func (s *search) divide(lists [][]item) error {
	if s.done(lists) {
		return nil
	}
	v, undecided := len(s.variables), false
	for _, list := range lists {
		if decided(list) {
			continue
		}
		undecided = true
		for i := range list {
			if values := list[i].left & list[i].values; values != 0 {
				v = min(v, list[i].tests[bits.TrailingZeros64(values)].variable)
			}
		}
	}
	switch {
	case !undecided:
		return s.visit(lists)
	case v < len(s.variables):
		return s.split(v, lists)
	}
	return s.branch(lists)
}

func (s *search) spend(steps int) error {
	if s.work -= steps; s.work < 0 {
		return errWork
	}
	return nil
}

var errWork = &LimitError{What: "the entries divide the requests into more parts than the limit allows"}

// decision returns the decision of a list that is decided.
func decision(list []item) Decision {
	if len(list) == 0 {
		return Decision{}
	}
	d := Decision{Allow: list[0].allow}
	if list[0].entry != nil {
		d.By = list[0].entry.By
	}
	return d
}

// text returns a text that a variable can have, given the knowledge about it.
func (s *search) text(v int) (text string, ok bool, err error) {
	at := &s.states[v]
	if len(at.in) == 0 && len(at.out) == 0 {
		return at.text, at.kind == one || at.kind == like, nil
	}
	key := fmt.Sprintf("%d %d %d %q %v %v", v, at.kind, at.division, at.text, at.in, at.out)
	if known, ok := s.found[key]; ok {
		return known.text, known.ok, nil
	}
	in, out := s.universes.texts(s.variables[v], s.space)
	if at.kind == like {
		in = append(in, at.trie.Like(at.text))
	}
	for _, i := range at.in {
		in = append(in, s.expressions[i])
	}
	for _, i := range at.out {
		out = append(out, s.expressions[i])
	}
	text, ok, err = language.Shortest(in, out, &s.work)
	if err != nil {
		return "", false, &LimitError{What: err.Error()}
	}
	s.found[key] = answer{text, ok}
	return text, ok, nil
}
