package inspect

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/partition"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// clientDiffs compares what inbounds do with clients by their tags (`from`).
// The rules of two views need not have the same selectors, so the clients are
// split by both: a part has one rule of each, and its place is called by its
// own selector. Dataplanes share what is compared.
type clientDiffs struct {
	limits partition.Limits
	known  map[fromPair][]clientsPart
}

type fromPair struct{ before, after *rules.From } // nil: none

// clientsPart is clients that have one conf before and one after.
type clientsPart struct {
	selector      partition.Selector
	before, after *rules.Effective // nil: no item selects them
}

// add puts what clients of the inbounds get into the leaves of either side.
// Inbounds are the same if they have one title.
func (c *clientDiffs) add(p pair, before, after []*rules.Config, old, next leaves) error {
	type inbound struct{ kind, title string }
	var order []inbound
	froms := map[inbound]fromPair{}
	note := func(configs []*rules.Config, d *resource.Dataplane, put func(*fromPair, *rules.From)) {
		for _, config := range configs {
			for i := range config.Inbounds {
				if config.Inbounds[i].From == nil {
					continue
				}
				at := inbound{config.Kind.Name, inboundTitle(d, i)}
				both, known := froms[at]
				if !known {
					order = append(order, at)
				}
				put(&both, config.Inbounds[i].From)
				froms[at] = both
			}
		}
	}
	note(before, p.before, func(both *fromPair, f *rules.From) { both.before = f })
	note(after, p.after, func(both *fromPair, f *rules.From) { both.after = f })
	for _, at := range order {
		parts, err := c.parts(froms[at])
		if err != nil {
			return fmt.Errorf("%s of %s of %s: %w", at.kind, at.title, p.kri(), err)
		}
		for _, part := range parts {
			title := at.title + " from " + ClientsTitle(part.selector)
			if err := old.effective(at.kind, title, part.before); err != nil {
				return err
			}
			if err := next.effective(at.kind, title, part.after); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *clientDiffs) parts(both fromPair) ([]clientsPart, error) {
	if parts, known := c.known[both]; known {
		return parts, nil
	}
	before, err := disjoint(both.before, c.limits)
	if err != nil {
		return nil, err
	}
	after, err := disjoint(both.after, c.limits)
	if err != nil {
		return nil, err
	}
	var selectors []partition.Predicate
	for _, r := range append(before[:len(before):len(before)], after...) {
		selectors = append(selectors, r.Selector.Predicate())
	}
	split, err := partition.Build(selectors, ruleOfEach(len(before)), c.limits)
	if err != nil {
		return nil, err
	}
	joined, err := split.Disjoint()
	if err != nil {
		return nil, err
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
	c.known[both] = parts
	return parts, nil
}

func disjoint(from *rules.From, limits partition.Limits) ([]rules.SelectorRule, error) {
	if from == nil {
		return nil, nil
	}
	return from.Disjoint(limits)
}

// rulePair is a rule of each side, numbered from 1; zero is no rule.
type rulePair struct{ before, after int }

// ruleOfEach is the algebra of rule pairs: the items are the rules of one side
// and, from that number on, those of the other. A client has one rule of a
// side at most.
type ruleOfEach int

// Start returns the pair of clients without a rule.
func (ruleOfEach) Start() rulePair { return rulePair{} }

// Add puts a rule into a pair.
func (before ruleOfEach) Add(p rulePair, item int) rulePair {
	if item < int(before) {
		p.before = item + 1
	} else {
		p.after = item - int(before) + 1
	}
	return p
}
