package rules

import (
	"github.com/meshmatch/meshmatch/core/match"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Part is what the policies of one kind say about all dataplanes that they
// select alike, whatever their outbounds. It is immutable and holds
// references to its blocks until [Blocks.Release].
type Part struct {
	config   Config // without Outbounds
	inbounds []*inboundBlock
	filing   *filing // of the `to` items; for the writer only, nil until it is needed
}

// Part evaluates one kind, but for the outbounds. Matched is the policies of the
// kind that select the dataplane. Of the dataplane only the number of its
// inbounds is looked at.
func (b *Blocks) Part(kind *resource.Kind, d *resource.Dataplane, matched match.Matched) *Part {
	p := &Part{config: Config{Kind: kind, Matched: matched}}
	if kind.To != nil {
		p.config.Outbounds = []OutboundConfig{}
	}
	if kind.Default != nil {
		p.config.Default = b.shared(kind.Default, defaultConf(kind, policiesOf(matched)))
	}
	if kind.From != nil || kind.Rules != nil {
		p.config.Inbounds = make([]InboundConfig, len(d.Inbounds))
		p.inbounds = make([]*inboundBlock, len(d.Inbounds))
		speaking := speakingOfInbounds(matched)
		var policies []*resource.Policy
		for i := range d.Inbounds {
			policies = appendInboundPolicies(policies[:0], speaking, i)
			if p.inbounds[i] = b.inbound(kind, policies); p.inbounds[i] != nil {
				p.config.Inbounds[i] = p.inbounds[i].config
			}
		}
	}
	return p
}

// speakingOfInbounds returns the policies that say something about inbounds.
func speakingOfInbounds(matched match.Matched) []*match.Selected {
	var speaking []*match.Selected
	for _, s := range matched.All() {
		if p := s.Policy; len(p.Rules)+len(p.From) > 0 && !p.TargetRef.Kind.IsRoute() {
			speaking = append(speaking, s)
		}
	}
	return speaking
}

func appendInboundPolicies(policies []*resource.Policy, speaking []*match.Selected, inbound int) []*resource.Policy {
	for _, s := range speaking {
		if s.Inbounds.Has(inbound) {
			policies = append(policies, s.Policy)
		}
	}
	return policies
}

// Kind returns the kind.
func (p *Part) Kind() *resource.Kind { return p.config.Kind }

// Matched returns the policies, later ones overriding.
func (p *Part) Matched() match.Matched { return p.config.Matched }

// Config returns the part as the config of dataplanes without outbounds, or of
// a kind without `to`.
func (p *Part) Config() *Config { return &p.config }

// Release gives back the references of a part that nobody is going to use any
// more but views that have it already.
func (b *Blocks) Release(p *Part) {
	b.releaseConf(p.config.Default)
	for _, block := range p.inbounds {
		b.releaseInbound(block)
	}
}

func policiesOf(matched match.Matched) []*resource.Policy {
	policies := make([]*resource.Policy, 0, matched.Len())
	for _, s := range matched.All() {
		policies = append(policies, s.Policy)
	}
	return policies
}
