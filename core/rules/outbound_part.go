package rules

import (
	"cmp"
	"hash/maphash"
	"slices"

	"github.com/meshmatch/meshmatch/core/match"
	"github.com/meshmatch/meshmatch/core/resource"
)

// OutboundPart completes a [Part] for dataplanes with outbounds. It remembers
// what it evaluated, so that an outbound that many of them have is evaluated
// once; it is meant for one commit, and belongs to one goroutine.
type OutboundPart struct {
	blocks  *Blocks
	part    *Part
	filler  filler
	routes  []*resource.Policy
	known   map[uint64][]knownOutbound // by the hash of the tags
	changes []versions
	updates bool // changes is all that differs from the part before
}

type knownOutbound struct {
	tags   resource.Tags
	config OutboundConfig
}

// versions is a policy that was replaced by another version.
type versions struct{ old, next *resource.Policy }

// Outbounds returns the evaluation of outbounds for a part of a kind that has
// `to`. Routes is the policies of the route kinds that select the dataplanes,
// in any order. Before is a part that the same dataplanes had, or nil: if it
// differs in the versions of some policies only, what these do not reach is
// not evaluated again.
func (b *Blocks) Outbounds(p, before *Part, routes []*resource.Policy) *OutboundPart {
	o := &OutboundPart{blocks: b, part: p, routes: routes, known: map[uint64][]knownOutbound{}}
	if before != nil {
		o.changes, o.updates = replaced(before.config.Matched, p.config.Matched)
		if o.updates && p.filing == nil {
			p.filing = before.filing
		}
	}
	if p.filing == nil {
		p.filing = newFiling(p.config.Matched)
	}
	o.filler = newFiller(p.config.Kind.To, p.config.Matched, p.filing)
	return o
}

// manyChanges is how many replaced policies it is worth to look through for
// each outbound.
const manyChanges = 32

// replaced returns the policies that another version took the place of; ok is
// false where that is not all that differs, or there are too many.
func replaced(before, after match.Matched) (changes []versions, ok bool) {
	if before.Len() != after.Len() {
		return nil, false
	}
	for old, next := range after.Since(before) {
		if len(changes) == manyChanges || old.ID != next.ID || !sameFiling(old, next) {
			return nil, false
		}
		changes = append(changes, versions{old, next})
	}
	return changes, true
}

// Config returns the config of a dataplane. Before is the config that it had
// by the part before and with the same routes, or nil. The config holds
// references to the blocks of its outbounds, until [Blocks.ReleaseOutbounds],
// and none to those of the part.
func (o *OutboundPart) Config(d *resource.Dataplane, before *Config) *Config {
	config := o.part.config
	config.Outbounds = make([]OutboundConfig, len(d.Outbounds))
	for i := range d.Outbounds {
		tags := d.Outbounds[i].Tags
		if o.updates && before != nil && !o.reached(tags) {
			config.Outbounds[i] = before.Outbounds[i]
			o.blocks.holdOutbound(&config.Outbounds[i])
		} else {
			config.Outbounds[i] = o.outbound(tags)
		}
	}
	return &config
}

// reached reports whether a replaced policy may say something about an
// outbound with the given tags, or about routes of it.
func (o *OutboundPart) reached(tags resource.Tags) bool {
	for _, c := range o.changes {
		for i := range c.next.To { // sameFiling: the old version has the same targets
			t := &c.next.To[i].TargetRef
			if !ofService(t) || t.Name == tags.Value(resource.ServiceTag) && tags.Contains(t.Tags) {
				return true
			}
		}
	}
	return false
}

func (o *OutboundPart) outbound(tags resource.Tags) OutboundConfig {
	var hash uint64
	for _, tag := range tags {
		hash = hash*31 + maphash.String(o.blocks.seed, tag.Key)
		hash = hash*31 + maphash.String(o.blocks.seed, tag.Value)
	}
	for i := range o.known[hash] {
		if known := &o.known[hash][i]; slices.Equal(known.tags, tags) {
			o.blocks.holdOutbound(&known.config)
			return known.config
		}
	}
	config := OutboundConfig{Effective: o.conf(tags, nil)}
	if !o.part.config.Kind.IsRoute() {
		for _, route := range o.routes {
			if hasRoute(route, tags) {
				config.Routes = append(config.Routes, RouteConfig{route, o.conf(tags, route)})
			}
		}
		slices.SortFunc(config.Routes, func(a, b RouteConfig) int { return cmp.Compare(a.Route.KRI(), b.Route.KRI()) })
	}
	o.known[hash] = append(o.known[hash], knownOutbound{tags, config})
	return config
}

func (o *OutboundPart) conf(tags resource.Tags, route *resource.Policy) *Effective {
	conf, origins := o.filler.fill(tags, route)
	if conf == nil {
		return nil
	}
	return o.blocks.conf(o.part.config.Kind.To, conf, origins, o.filler.contributions)
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
