package diff

import (
	"errors"
	"fmt"
	"slices"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/ruleviews"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// clientDiffs compares the `from` of inbounds. The rule views of the two views
// may have different selectors. So the clients are divided into parts, each with
// one rule of each view; the selector of a part is its place. Dataplanes share
// their `from`, so each pair is compared once.
type clientDiffs struct {
	views *ruleviews.Views
	known map[fromPair]*clientsParts
	// failed contains the comparisons with an error, in the order of
	// comparison.
	failed []*clientsParts
}

type fromPair = twoSides[*results.From]

// clientsParts contains either parts or the error that names the limit.
type clientsParts struct {
	parts    []clientsPart
	err      error
	first    string // the first inbound with this comparison
	inbounds int    // the number of inbounds with this comparison
}

// clientsPart is a set of clients with one conf before and one after; nil if no
// item selects them.
type clientsPart struct {
	selector      partition.Selector
	before, after *results.Effective
}

// add adds the confs of the clients of each inbound to the leaves of each view.
func (c *clientDiffs) add(d *differ, p pair, before, after []*results.Config, old, next *leaves) {
	from := func(c *results.InboundConfig) *results.From { return c.From }
	for _, froms := range pairInbounds(d, p, before, after, from) {
		if froms.before == froms.after {
			continue
		}
		both := c.parts(froms.twoSides)
		if both.inbounds++; both.inbounds == 1 {
			both.first = fmt.Sprintf("%s of %s of %s", froms.kind.Name, froms.place.String(), p.either().Name)
		}
		for i := range both.parts {
			part := &both.parts[i]
			if part.before == part.after {
				continue
			}
			place := froms.place
			place.Selector = &part.selector
			old.conf(froms.kind, froms.kind.From, &place, part.before)
			next.conf(froms.kind, froms.kind.From, &place, part.after)
		}
	}
}

// errors returns one error for each comparison that exceeds its limit.
func (c *clientDiffs) errors() []error {
	return lists.Map(c.failed, func(both *clientsParts) error {
		name := both.first
		if both.inbounds > 1 {
			name += fmt.Sprintf(" and %d more", both.inbounds-1)
		}
		return fmt.Errorf("%s: %w", name, both.err)
	})
}

// parts divides the clients of an inbound.
func (c *clientDiffs) parts(froms fromPair) *clientsParts {
	both := c.known[froms]
	if both == nil {
		both = &clientsParts{}
		if both.parts, both.err = c.divide(froms); both.err != nil {
			c.failed = append(c.failed, both)
		}
		c.known[froms] = both
	}
	return both
}

func (c *clientDiffs) divide(both fromPair) ([]clientsPart, error) {
	before, err := c.views.RulesOf(both.before)
	if err != nil {
		return nil, err
	}
	after, err := c.views.RulesOf(both.after)
	if err != nil {
		return nil, err
	}
	selectors := lists.Map(slices.Concat(before, after), func(r results.SelectorRule) partition.Predicate { return r.Selector.Predicate() })
	joined, err := disjoint(selectors, ruleOfEach(len(before)), c.views.Limits)
	if err != nil {
		c.views.Failed(err)
		return nil, limitError(both, err)
	}
	parts := make([]clientsPart, len(joined))
	for i, r := range joined {
		parts[i].selector = r.Selector
		if n := r.Content.before; n > 0 {
			parts[i].before = before[n-1].Effective
		}
		if n := r.Content.after; n > 0 {
			parts[i].after = after[n-1].Effective
		}
	}
	return parts, nil
}

// limitError returns the error of a comparison that exceeds the limit. It names
// the policies of both views instead of the compared selectors.
func limitError(both fromPair, err error) error {
	var limit *partition.LimitError
	if !errors.As(err, &limit) {
		return err
	}
	e := &results.LimitError{Limit: limit, Keys: limit.Keys}
	seen := map[resource.ID]bool{}
	for _, from := range []*results.From{both.before, both.after} {
		if from == nil {
			continue
		}
		for _, o := range slices.Backward(from.Origins()) {
			if !seen[o.Policy.ID] {
				seen[o.Policy.ID] = true
				e.Policies = append(e.Policies, o.Policy)
			}
		}
	}
	return e
}

func disjoint(selectors []partition.Predicate, algebra ruleOfEach, limits partition.Limits) (partition.Rules[rulePair], error) {
	split, err := partition.Build(selectors, algebra, limits)
	if err != nil {
		return nil, err
	}
	return split.Disjoint()
}

// rulePair contains a rule of each view. Rules are numbered from 1; zero means
// no rule.
type rulePair struct{ before, after int }

// ruleOfEach is the algebra of rule pairs. Its value is the number of rules in
// the first view. Items below it are the rules of that view; the other items are
// the rules of the second view. A client has at most one rule in each view.
type ruleOfEach int

// Start returns the pair of clients without a rule.
func (ruleOfEach) Start() rulePair { return rulePair{} }

// Add returns the pair with a rule added.
func (before ruleOfEach) Add(p rulePair, item int) rulePair {
	if item < int(before) {
		p.before = item + 1
	} else {
		p.after = item - int(before) + 1
	}
	return p
}
