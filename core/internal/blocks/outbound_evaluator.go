package blocks

import (
	"cmp"
	"hash/maphash"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/match"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// OutboundEvaluator completes a [ClassConfig] for dataplanes with outbounds. It
// keeps its results, so that an outbound of many dataplanes is evaluated once.
// It serves one commit and belongs to one goroutine.
type OutboundEvaluator struct {
	table        *Table
	class        *ClassConfig
	merger       outboundMerger
	routes       []*resource.Policy
	known        []knownOutbound
	newest       map[uint64]int // by the hash of the tags: the index in known, plus 1
	replaced     []match.Replacement
	onlyReplaced bool // replaced is the only difference from the class config before
}

type knownOutbound struct {
	tags   resource.Tags
	config results.OutboundConfig
	older  int // the index of another one with the same hash, plus 1; 0: none
}

// OutboundEvaluator returns an evaluator for a class config of a kind that has
// `to`. Routes are the policies of the route kinds that select the dataplanes,
// in any order. Before is the previous class config of the same dataplanes, or
// nil. If it differs only in the versions of some policies, an outbound that
// these policies do not select is not evaluated again.
func (t *Table) OutboundEvaluator(c, before *ClassConfig, routes []*resource.Policy) *OutboundEvaluator {
	o := &OutboundEvaluator{table: t, class: c, routes: routes}
	if before != nil {
		o.replaced, o.onlyReplaced = replacements(before.config.Matched, c.config.Matched)
	}
	o.merger = outboundMerger{semantics: t.semantics, section: c.config.Kind.To, matched: c.config.Matched}
	o.merger.to = o.items(before)
	c.to.Store(o.merger.to) // another worker that has the class config stores equal items
	return o
}

// items returns the `to` items of the class config, with the effective ones. It uses those
// of the previous class config if that differs only in the versions of some policies.
func (o *OutboundEvaluator) items(before *ClassConfig) *toItems {
	m, to := &o.merger, o.class.to.Load()
	if to != nil && to.effective != nil {
		return to
	}
	var effective []itemRef // of the previous class config
	if to == nil && o.onlyReplaced {
		if to = before.to.Load(); to != nil {
			effective = to.effective
		}
	}
	if to == nil {
		to = &toItems{toIndex: newToIndex(m.semantics, m.matched)}
	}
	m.to = &toItems{toIndex: to.toIndex, missing: to.missing}
	if effective != nil {
		m.to.effective = m.effectiveAfter(effective, o.replaced)
	} else {
		m.to.effective = m.effective(m.to.mesh)
	}
	return m.to
}

// maxReplacements limits the replaced policies whose items are compared with
// each outbound. Up to this number, comparing an outbound costs less than
// evaluating it.
const maxReplacements = 32

// replacements returns the policies that were replaced by another version. It
// returns false if the lists differ in anything else, or in more policies than
// maxReplacements.
func replacements(before, after results.Matched) (replaced []match.Replacement, ok bool) {
	if before.Len() != after.Len() {
		return nil, false
	}
	for r := range match.Replaced(before, after) {
		if len(replaced) == maxReplacements || r.Old.ID != r.Next.ID || !sameToIndex(r.Old, r.Next) {
			return nil, false
		}
		replaced = append(replaced, r)
	}
	return replaced, true
}

// Config returns the config of a dataplane. Before is the dataplane's previous
// config, from the previous class config and with the same routes, or nil.
func (o *OutboundEvaluator) Config(d *resource.Dataplane, before *results.Config) *results.Config {
	config := o.class.config
	config.Outbounds = make([]results.OutboundConfig, 0, len(d.Outbounds))
	if o.newest == nil {
		o.known, o.newest = make([]knownOutbound, 0, len(d.Outbounds)), make(map[uint64]int, len(d.Outbounds))
	}
	for i := range d.Outbounds {
		if d.Outbounds[i].Backend != nil {
			continue // its destination decides, not its tags
		}
		tags := d.Outbounds[i].Tags
		var next results.OutboundConfig
		if o.onlyReplaced && before != nil && !o.reaches(tags) {
			next = before.Outbounds[len(config.Outbounds)]
		} else {
			next = o.outbound(tags)
		}
		next.Index = i
		config.Outbounds = append(config.Outbounds, next)
	}
	return &config
}

// reaches reports whether a replaced policy may change the conf of an outbound
// with the given tags, or of its routes.
func (o *OutboundEvaluator) reaches(tags resource.Tags) bool {
	for _, r := range o.replaced {
		for i := range r.Next.To { // both versions have the same targetRefs
			if t := &r.Next.To[i].TargetRef; t.Kind.IsRoute() || t.SelectsOutbound(tags) {
				return true
			}
		}
	}
	return false
}

// outbound evaluates an outbound with the given tags and its routes.
func (o *OutboundEvaluator) outbound(tags resource.Tags) results.OutboundConfig {
	var hash uint64
	for _, tag := range tags {
		hash = hash*31 + maphash.String(o.table.seed, tag.Key)
		hash = hash*31 + maphash.String(o.table.seed, tag.Value)
	}
	newest := o.newest[hash]
	for i := newest; i > 0; i = o.known[i-1].older {
		if known := &o.known[i-1]; slices.Equal(known.tags, tags) {
			return known.config
		}
	}
	config := results.OutboundConfig{Effective: o.conf(tags, nil)}
	if !o.class.config.Kind.IsRoute() {
		for _, route := range o.routes {
			if route.RoutesOutbound(tags) {
				config.Routes = append(config.Routes, results.RouteConfig{Route: route, Effective: o.conf(tags, route)})
			}
		}
		slices.SortFunc(config.Routes, func(a, b results.RouteConfig) int { return cmp.Compare(a.Route.KRI(), b.Route.KRI()) })
	}
	o.known = append(o.known, knownOutbound{tags, config, newest})
	o.newest[hash] = len(o.known)
	return config
}

func (o *OutboundEvaluator) conf(tags resource.Tags, route *resource.Policy) *results.Effective {
	conf, origins := o.merger.merge(tags, route)
	if conf == nil {
		return nil
	}
	return o.table.memo.Conf(o.class.config.Kind.To, conf, origins, o.merger.contributions)
}
