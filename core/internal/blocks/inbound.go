package blocks

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/items"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// inboundBlock is the configuration of the inbounds that the same policies
// select.
type inboundBlock struct {
	policies []*resource.Policy
	config   results.InboundConfig
}

// noInbound is the configuration of the inbounds that no policy has an item for.
var noInbound results.InboundConfig

// inbound returns the configuration of an inbound that the given policies select, a part of a
// block. The policies must all be of the kind, in order, and have rules or `from` items.
func (t *Table) inbound(kind *resource.Kind, policies []*resource.Policy) *results.InboundConfig {
	if len(policies) == 0 {
		return &noInbound
	}
	hash := uint64(len(policies))
	for _, p := range policies {
		hash = items.HashPolicy(t.seed, hash, p, 0)
	}
	same := func(block *inboundBlock) bool { return slices.Equal(block.policies, policies) }
	known := t.inboundsOf(kind)
	block := known.Find(hash, same)
	if block == nil {
		block = known.Add(hash, t.newInbound(kind, slices.Clone(policies)), same)
	}
	return &block.config
}

func (t *Table) newInbound(kind *resource.Kind, policies []*resource.Policy) *inboundBlock {
	block := &inboundBlock{policies: policies}
	hasRules := slices.ContainsFunc(policies, func(p *resource.Policy) bool { return len(p.Rules) > 0 })
	hasFrom := slices.ContainsFunc(policies, func(p *resource.Policy) bool { return len(p.From) > 0 })
	from := t.semantics.FromItems(kind)
	if hasFrom && from == semantics.FromAsRules {
		hasRules, hasFrom = true, false
	}
	switch {
	case hasRules && kind.Rules.Unmerged:
		block.config.Unmerged = unmergedRules(policies)
	case hasRules:
		block.config.Rules = t.inboundRules(kind.Rules, policies, from == semantics.FromAsRules)
	case hasFrom && from == semantics.FromByClient:
		block.config.From = results.NewFrom(kind, policies)
	}
	block.config.FromIgnored = hasFrom && (hasRules || from == semantics.FromUnread)
	return block
}
