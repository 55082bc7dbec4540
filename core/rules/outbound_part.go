package rules

import (
	"cmp"
	"hash/maphash"
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
)

// OutboundPart completes a [Part] for dataplanes with outbounds. It remembers
// what it evaluated, so that an outbound that many of them have is evaluated
// once; it is meant for one commit, and belongs to one goroutine.
type OutboundPart struct {
	blocks *Blocks
	part   *Part
	to     *To
	routes []*resource.Policy
	known  map[uint64][]knownOutbound // by the hash of the tags
}

type knownOutbound struct {
	tags   resource.Tags
	config OutboundConfig
}

// Outbounds returns the evaluation of outbounds for a part of a kind that has
// `to`. Routes is the policies of the route kinds that select the dataplanes,
// in any order.
func (b *Blocks) Outbounds(p *Part, routes []*resource.Policy) *OutboundPart {
	return &OutboundPart{
		blocks: b, part: p, routes: routes,
		to:    NewTo(p.config.Kind, policiesOf(p.config.Matched)),
		known: map[uint64][]knownOutbound{},
	}
}

// Config returns the config of a dataplane. It holds references to the blocks
// of its outbounds, until [Blocks.ReleaseOutbounds], and none to those of the
// part.
func (o *OutboundPart) Config(d *resource.Dataplane) *Config {
	config := o.part.config
	config.Outbounds = make([]OutboundConfig, len(d.Outbounds))
	for i := range d.Outbounds {
		config.Outbounds[i] = o.outbound(d.Outbounds[i].Tags)
	}
	return &config
}

func (o *OutboundPart) outbound(tags resource.Tags) OutboundConfig {
	var hash uint64
	for _, tag := range tags {
		hash = hash*31 + maphash.String(o.blocks.seed, tag.Key)
		hash = hash*31 + maphash.String(o.blocks.seed, tag.Value)
	}
	for _, known := range o.known[hash] {
		if slices.Equal(known.tags, tags) {
			o.blocks.holdOutbound(&known.config)
			return known.config
		}
	}
	var config OutboundConfig
	section := o.part.config.Kind.To
	if merger := o.to.fill(tags, nil); merger != nil {
		config.Effective = o.blocks.conf(section, merger, o.to.items)
	}
	if !o.part.config.Kind.IsRoute() {
		for _, route := range o.routes {
			if HasRoute(route, tags) {
				r := RouteConfig{Route: route}
				if merger := o.to.fill(tags, route); merger != nil {
					r.Effective = o.blocks.conf(section, merger, o.to.items)
				}
				config.Routes = append(config.Routes, r)
			}
		}
		slices.SortFunc(config.Routes, func(a, b RouteConfig) int { return cmp.Compare(a.Route.KRI(), b.Route.KRI()) })
	}
	o.known[hash] = append(o.known[hash], knownOutbound{tags, config})
	return config
}

func (b *Blocks) holdOutbound(c *OutboundConfig) {
	b.holdConf(c.Effective)
	for i := range c.Routes {
		b.holdConf(c.Routes[i].Effective)
	}
}

// ReleaseOutbounds gives back the references of a [Config] of an
// [OutboundPart].
func (b *Blocks) ReleaseOutbounds(c *Config) {
	for i := range c.Outbounds {
		b.releaseConf(c.Outbounds[i].Effective)
		for j := range c.Outbounds[i].Routes {
			b.releaseConf(c.Outbounds[i].Routes[j].Effective)
		}
	}
}
