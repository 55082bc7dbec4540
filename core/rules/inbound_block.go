package rules

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
)

// inboundBlock is what every inbound does that the same policies say
// something about.
type inboundBlock struct {
	policies []*resource.Policy
	config   InboundConfig
	confs    []*Effective // of the rules; it holds a reference to each
}

// inbound returns the block of an inbound that the policies select, with a
// reference; nil where none of them has rules or from.
func (b *Blocks) inbound(kind *resource.Kind, policies []*resource.Policy) *inboundBlock {
	if len(policies) == 0 {
		return nil
	}
	hash := uint64(len(policies))
	for _, p := range policies {
		hash = b.hashPolicy(hash, p, 0)
	}
	same := func(block *inboundBlock) bool { return slices.Equal(block.policies, policies) }
	b.mu.Lock()
	known := b.inbounds.take(kind, hash, same)
	b.mu.Unlock()
	if known != nil {
		return known
	}
	block := &inboundBlock{policies: slices.Clone(policies), config: inbound(kind, policies)}
	b.shareRules(kind, block)
	b.mu.Lock()
	if known = b.inbounds.take(kind, hash, same); known == nil {
		b.inbounds.put(kind, hash, block)
	}
	b.mu.Unlock()
	if known != nil { // somebody was faster
		b.releaseAll(block.confs)
		return known
	}
	return block
}

// shareRules puts blocks in the place of the rules' confs. The matches of one
// group of rules have one conf.
func (b *Blocks) shareRules(kind *resource.Kind, block *inboundBlock) {
	shared := map[*Effective]*Effective{}
	for i := range block.config.Rules {
		rule := &block.config.Rules[i]
		e := shared[rule.Effective]
		if e == nil {
			e = b.shared(kind.Rules, rule.Effective)
			shared[rule.Effective] = e
			block.confs = append(block.confs, e)
		}
		rule.Effective = e
	}
}

func (b *Blocks) releaseAll(confs []*Effective) {
	for _, e := range confs {
		b.releaseConf(e)
	}
}

func (b *Blocks) releaseInbound(block *inboundBlock) {
	if block == nil {
		return
	}
	b.mu.Lock()
	last := b.inbounds.release(block)
	b.mu.Unlock()
	if last {
		b.releaseAll(block.confs)
	}
}

// inbound evaluates what the policies, all of the kind and in order, make an
// inbound do that they select.
func inbound(kind *resource.Kind, policies []*resource.Policy) (c InboundConfig) {
	hasRules := slices.ContainsFunc(policies, func(p *resource.Policy) bool { return len(p.Rules) > 0 })
	hasFrom := slices.ContainsFunc(policies, func(p *resource.Policy) bool { return len(p.From) > 0 })
	switch {
	case hasRules && kind.Rules.Unmerged:
		c.Unmerged = unmerged(policies)
	case hasRules:
		c.Rules = inboundRules(kind, policies)
	case hasFrom:
		c.From = NewFrom(kind, policies)
	}
	c.FromIgnored = hasRules && hasFrom
	return c
}

func unmerged(policies []*resource.Policy) []Contribution {
	var out []Contribution
	for _, p := range policies {
		for i := range p.Rules {
			out = append(out, Contribution{Origin{p, i}, p.Rules[i].Conf})
		}
	}
	return out
}
