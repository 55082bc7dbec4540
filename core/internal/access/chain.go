package access

import (
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/permission"
)

// Chain is the filters of a proxy, in order. It allows the requests that each list allows.
type Chain []*List

// ChainDecision is a decision of a chain.
type ChainDecision struct {
	Decision
	List int // index of the list that decides: the first that denies, else the last with an entry that allows
}

// ChainDifference is a pair of what decides by permissions and by a chain, with different
// decisions, and a request that they decide.
type ChainDifference struct {
	Before  Decision
	After   ChainDecision
	Witness *Witness
	// Unknown has the conditions of [Undetermined] on which the decision of the chain about the
	// witness depends.
	Unknown []string
}

// CompareChain returns the differences between a list and a chain, in the order in which the
// search finds them: the same input gives the same order. If there is no difference, both decide
// every request equally, regardless of unknown conditions. The error is a [*LimitError].
func CompareChain(space *Space, before *List, chain Chain, limits Limits) ([]ChainDifference, error) {
	c := compile(space, append([]*List{before}, chain...)...)
	c.mergeExpressions()
	s := newSearch(c.compiled(), limits)
	s.done = func(lists [][]item) bool {
		x, ok := outcome(lists[0])
		y, also := chainOutcome(lists[1:])
		return ok && also && x == y
	}
	type pair struct {
		before, after *permission.Place
		list          int
		unknown       bool
	}
	found := map[pair]bool{}
	var out []ChainDifference
	s.visit = func(lists [][]item) error {
		d := ChainDifference{Before: decision(lists[0]), After: chainDecision(lists[1:])}
		key := pair{d.Before.By, d.After.By, d.After.List, false}
		if found[key] {
			return nil
		}
		var err error
		if d.Witness, err = s.witness(); err != nil {
			return err
		}
		if s.dependsOnUnknown() {
			outcomes, err := s.outcomesOf(d.Witness, c.lists[1:])
			if err != nil {
				return err
			}
			if slices.ContainsFunc(outcomes, func(o ChainDecision) bool { return o.Allow != d.After.Allow }) {
				d.Unknown, key.unknown = s.unknownConditions(), true
			}
		}
		if !found[key] {
			found[key] = true
			out = append(out, d)
		}
		return nil
	}
	if err := s.run(); err != nil {
		return nil, err
	}
	return out, nil
}

// Outcomes returns the decisions of a chain about a request, each once: several if they depend on
// unknown conditions or on the given unknown parts. The error is a [*LimitError].
func Outcomes(space *Space, chain Chain, r *request.Request, parts Parts, limits Limits) ([]ChainDecision, error) {
	return newSearch(compile(space, chain...).compiled(), limits).outcomes(r, parts)
}

// outcomesOf returns the decisions of some lists of a problem about a request.
func (s *search) outcomesOf(r *request.Request, lists [][]rule) ([]ChainDecision, error) {
	at := *s.problem
	at.lists = lists
	inner := newSearch(&at, Limits{Work: max(s.work, 1)})
	out, err := inner.outcomes(r, Parts{})
	s.work = inner.work
	return out, err
}

func (s *search) outcomes(r *request.Request, parts Parts) ([]ChainDecision, error) {
	space := *s.space
	space.partial = &partial{seen: request.NewSeen(r), unknown: parts, queries: space.Queries}
	if space.Raw {
		space.partial.seen.NormalPath, _, _ = strings.Cut(r.Path, "?")
	}
	at := *s.problem
	at.space = &space
	s.problem = &at
	s.done = func([][]item) bool { return false }
	var out []ChainDecision
	s.visit = func(lists [][]item) error {
		if d := chainDecision(lists); !slices.Contains(out, d) {
			out = append(out, d)
		}
		return nil
	}
	return out, s.run()
}

// chainOutcome returns the only decision that a chain can still have; ok is false if there are
// two.
func chainOutcome(lists [][]item) (allow, ok bool) {
	all := true
	for _, l := range lists {
		allow, known := outcome(l)
		if known && !allow {
			return false, true
		}
		all = all && known
	}
	return true, all
}

// chainDecision returns the decision of lists that are decided.
func chainDecision(lists [][]item) ChainDecision {
	d := ChainDecision{Decision: Decision{Allow: true}, List: len(lists) - 1}
	for i, l := range lists {
		one := decision(l)
		if !one.Allow {
			return ChainDecision{one, i}
		}
		if one.By != nil {
			d.By, d.List = one.By, i
		}
	}
	return d
}

// dependsOnUnknown reports whether an unknown condition divides the current requests.
func (s *search) dependsOnUnknown() bool { return len(s.unknownConditions()) > 0 }

// unknownConditions returns the unknown conditions that divide the current requests.
func (s *search) unknownConditions() []string {
	var out []string
	for v, at := range s.variables {
		if at.part == unknown && s.states[v].kind != free {
			out = append(out, at.name)
		}
	}
	return out
}

// ChainReach is what a chain decides about all requests of a space: whether it allows some and
// denies some for certain, and whether some depend on unknown conditions.
type ChainReach struct {
	Allows, Denies bool
	Unknown        []string // the conditions, sorted
}

// ReachOfChain returns what a chain decides about the requests of clients other than those with
// the given SPIFFE IDs. The error is a [*LimitError].
func ReachOfChain(space *Space, chain Chain, except []string, limits Limits) (ChainReach, error) {
	c := compile(space, chain...)
	others := make([]*Requests, len(except))
	for i, id := range except {
		others[i] = ClientID.Equals(id)
	}
	c.addSet(And().Without(others...))
	c.mergeExpressions()
	s := newSearch(c.compiled(), limits)
	n := len(chain)
	var r ChainReach
	s.done = func(lists [][]item) bool {
		if in, ok := outcome(lists[n]); ok && !in {
			return true
		}
		allow, ok := chainOutcome(lists[:n])
		return ok && !s.dependsOnUnknown() && (allow && r.Allows || !allow && r.Denies)
	}
	s.visit = func(lists [][]item) error {
		if in := decision(lists[n]); !in.Allow {
			return nil
		}
		allow := chainDecision(lists[:n]).Allow
		if s.dependsOnUnknown() {
			w, err := s.witness()
			if err != nil {
				return err
			}
			outcomes, err := s.outcomesOf(w, c.lists[:n])
			if err != nil {
				return err
			}
			if slices.ContainsFunc(outcomes, func(o ChainDecision) bool { return o.Allow != allow }) {
				r.Unknown = append(r.Unknown, s.unknownConditions()...)
				return nil
			}
		}
		r.Allows, r.Denies = r.Allows || allow, r.Denies || !allow
		return nil
	}
	err := s.run()
	slices.Sort(r.Unknown)
	r.Unknown = slices.Compact(r.Unknown)
	return r, err
}
