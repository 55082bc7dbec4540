package blocks

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// inboundBlock is the configuration of the inbounds that the same policies
// select.
type inboundBlock struct {
	policies []*resource.Policy
	config   results.InboundConfig
	confs    []*results.Effective // blocks of the rules, one reference to each
}

// noInbound is the configuration of the inbounds that no policy has an item for.
var noInbound results.InboundConfig

// inbound returns the block of an inbound that the given policies select, and
// adds a reference to it. It returns nil if there are no policies. The policies
// must all be of the kind, in order, and have rules or `from` items.
func (t *Table) inbound(kind *resource.Kind, policies []*resource.Policy) *inboundBlock {
	if len(policies) == 0 {
		return nil
	}
	hash := uint64(len(policies))
	for _, p := range policies {
		hash = t.hashPolicy(hash, p, 0)
	}
	same := func(block *inboundBlock) bool { return slices.Equal(block.policies, policies) }
	t.mu.Lock()
	known := t.inbounds.take(kind, hash, same)
	t.mu.Unlock()
	if known != nil {
		return known
	}
	made := t.newInbound(kind, slices.Clone(policies))
	t.mu.Lock()
	if known = t.inbounds.take(kind, hash, same); known == nil {
		t.inbounds.put(kind, hash, made)
	}
	t.mu.Unlock()
	if known != nil { // another worker made it at the same time
		t.releaseConfs(made)
		return known
	}
	return made
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
		block.config.Rules, block.confs = t.inboundRules(kind.Rules, policies, from == semantics.FromAsRules)
	case hasFrom && from == semantics.FromByClient:
		block.config.From = results.NewFrom(kind, policies)
	}
	block.config.FromIgnored = hasFrom && (hasRules || from == semantics.FromUnread)
	return block
}

func (t *Table) releaseInbound(block *inboundBlock) {
	if block == nil {
		return
	}
	t.mu.Lock()
	last := t.inbounds.release(block)
	t.mu.Unlock()
	if last {
		t.releaseConfs(block)
	}
}

func (t *Table) releaseConfs(block *inboundBlock) {
	for _, e := range block.confs {
		t.releaseConf(e)
	}
}
