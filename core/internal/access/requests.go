package access

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Requests is a set of requests. A nil Requests contains all requests.
type Requests struct {
	entry   *Entry // a condition; nil: of the members
	fact    *fact  // a condition on one part; nil: of the members
	members []*Requests
	all     bool // all members must hold; otherwise at least one
	negated bool
	without []*Requests // the sets to exclude; a set that has them is made by Without
	written *Written
}

// Without returns a set without the requests of others, which may be many. Use the
// result for a question; it must not be a member of another set.
func (s *Requests) Without(others ...*Requests) *Requests {
	return &Requests{all: true, members: And(s).members, without: others}
}

// Matching returns the requests that meet a match, from clients that have the given tags.
// The match may be nil.
func Matching(m *conf.Match, tags resource.Tags) *Requests {
	return &Requests{entry: &Entry{Match: m, ValueScope: request.Whole, Tags: tags}}
}

// And returns the intersection of sets. The intersection of no sets contains
// all requests.
func And(sets ...*Requests) *Requests {
	return &Requests{all: true, members: slices.DeleteFunc(slices.Clone(sets), func(s *Requests) bool { return s == nil }), written: writtenOf(true, sets)}
}

// Or returns the union of sets. The union of no sets is empty.
func Or(sets ...*Requests) *Requests {
	written := writtenOf(false, sets)
	out := &Requests{members: join(sets)}
	if len(out.members) == 1 && out.members[0] != nil {
		one := *out.members[0]
		out = &one
	}
	out.written = written
	return out
}

// Not returns the complement of a set.
func Not(s *Requests) *Requests {
	if s == nil {
		return Or()
	}
	not := *s
	not.negated = !s.negated
	if s.written != nil {
		not.written = &Written{All: true, Negated: true, Members: []*Written{s.written}}
	}
	return &not
}

// maxTerms is the maximum number of alternatives of a set.
const maxTerms = 10_000

// addSet compiles a set as a list that allows its requests.
func (c *compiler) addSet(s *Requests) {
	terms := [][]test{{}}
	var rules []rule
	if s != nil {
		for _, other := range s.without {
			for _, tests := range c.terms(other, false) {
				rules = append(rules, rule{tests: tests})
			}
		}
		terms = c.terms(s, false)
	}
	if len(terms) > maxTerms || slices.ContainsFunc(terms, func(t []test) bool { return len(t) > maxTests }) {
		c.err = cmp.Or[error](c.err, &LimitError{What: fmt.Sprintf("the requests in question have more than %d alternatives, or %d conditions", maxTerms, maxTests)})
		terms = nil
	}
	for _, tests := range terms {
		rules = append(rules, rule{tests: tests, allow: true})
	}
	c.lists = append(c.lists, rules)
}

// terms returns the alternatives of a set, each a list of tests that must all hold. Past the
// limit it returns some of them.
func (c *compiler) terms(s *Requests, negated bool) [][]test {
	negated = negated != s.negated
	if s.entry != nil || s.fact != nil {
		var tests []test
		if s.fact != nil {
			tests = c.fact(s.fact)
		} else {
			tests = c.tests(s.entry.Match, s.entry.ValueScope, s.entry.Tags)
		}
		if !negated {
			return [][]test{tests}
		}
		var out [][]test
		for i, t := range tests {
			t.negated = !t.negated
			term := []test{t}
			if t.how == matches { // after the test that there is a text
				for _, other := range tests[:i] {
					if other.variable == t.variable && other.how == present {
						term = append(term, other)
					}
				}
			}
			out = append(out, term)
		}
		return out
	}
	if s.all == negated { // alternatives
		var out [][]test
		for _, m := range s.members {
			out = append(out, c.terms(m, negated)...)
		}
		return out
	}
	out := [][]test{{}}
	for _, m := range s.members {
		var next [][]test
		for _, a := range out {
			for _, b := range c.terms(m, negated) {
				next = append(next, append(slices.Clone(a), b...))
				if len(next) > maxTerms {
					return next
				}
			}
		}
		out = next
	}
	return out
}
