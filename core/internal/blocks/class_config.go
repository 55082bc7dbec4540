package blocks

import (
	"slices"
	"sync/atomic"

	"github.com/meshmatch/meshmatch/core/internal/match"
	"github.com/meshmatch/meshmatch/core/internal/matched"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// ClassConfig is the configuration of one kind for all dataplanes that the same
// policies select at the same inbounds, without their outbounds. It is immutable.
// Classes can share it.
type ClassConfig struct {
	config results.Config          // without Outbounds
	to     atomic.Pointer[toItems] // the `to` items; for the writer only, nil until needed
}

// ClassConfig evaluates one kind, except for the outbounds. Matched is the list
// of the policies of the kind that select the dataplanes. d is one of the
// dataplanes; only its number of inbounds matters.
func (t *Table) ClassConfig(kind *resource.Kind, d *resource.Dataplane, matched results.Matched) *ClassConfig {
	c := &ClassConfig{config: results.Config{Kind: kind, Matched: matched}}
	if kind.To != nil {
		c.config.Outbounds = []results.OutboundConfig{}
	}
	if kind.Default != nil {
		c.config.Default = t.defaultConf(kind, matched)
	}
	if kind.From != nil || kind.Rules != nil {
		c.config.Inbounds = make([]*results.InboundConfig, len(d.Inbounds))
		candidates := slices.Collect(matched.ForInbounds())
		var policies []*resource.Policy
		for i := range d.Inbounds {
			policies = policies[:0]
			for _, s := range candidates {
				if s.Inbounds.Has(i) {
					policies = append(policies, s.Policy)
				}
			}
			c.config.Inbounds[i] = t.inbound(kind, policies)
		}
	}
	return c
}

// Without returns the class config for the policies of the class config all, except
// those at the given positions of its list, which must be sorted. Only the number of
// inbounds of d matters; it must be the same as for the dataplanes of all.
func (t *Table) Without(pager *matched.Pager, all *ClassConfig, d *resource.Dataplane, positions []int) *ClassConfig {
	c := t.ClassConfig(all.Kind(), d, match.Without(pager, all.Matched(), positions))
	if to := all.to.Load(); to != nil {
		c.to.Store(to.without(positions))
	}
	return c
}

// Kind returns the policy kind.
func (c *ClassConfig) Kind() *resource.Kind { return c.config.Kind }

// Matched returns the policies in order; later ones override. A nil config has none.
func (c *ClassConfig) Matched() results.Matched {
	if c == nil {
		return results.Matched{}
	}
	return c.config.Matched
}

// Config returns the config of dataplanes that have no outbounds, or of a kind
// without `to`.
func (c *ClassConfig) Config() *results.Config { return &c.config }

// Evaluate computes the config of one kind for one dataplane, which need not exist.
// Matched is the list of the policies of the kind that select the dataplane;
// routes are the policies of the route kinds that select it, in any order.
func (t *Table) Evaluate(kind *resource.Kind, d *resource.Dataplane, matched results.Matched, routes []*resource.Policy) *results.Config {
	c := t.ClassConfig(kind, d, matched)
	if kind.To == nil {
		return c.Config()
	}
	return t.OutboundEvaluator(c, nil, routes).Config(d, nil)
}
