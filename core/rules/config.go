package rules

import (
	"cmp"
	"slices"

	"github.com/meshmatch/meshmatch/core/match"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Config is everything that the policies of one kind say about a dataplane.
type Config struct {
	Kind *resource.Kind
	// Matched is the policies that select the dataplane, later ones
	// overriding.
	Matched []match.Selected
	// Default is the one conf of a kind without arrays.
	Default *Effective
	// Outbounds and Inbounds are parallel to the dataplane's; nil where the
	// kind has no array for them.
	Outbounds []OutboundConfig
	Inbounds  []InboundConfig
}

// OutboundConfig is an outbound's conf, nil where no item selects it, and
// those of its routes.
type OutboundConfig struct {
	*Effective
	Routes []RouteConfig
}

// RouteConfig is a route's conf; the Effective is nil where no item selects
// the route or its outbound.
type RouteConfig struct {
	Route *resource.Policy
	*Effective
}

// InboundConfig is what an inbound does with requests. It has rules or From,
// never both; both are empty where no policy of the kind says anything.
type InboundConfig struct {
	// Rules is the merged rules, first match first.
	Rules []InboundRule
	// Unmerged is the rules of a kind whose rules are never merged, policies
	// in order, then rules (SPEC 7.3).
	Unmerged []Contribution
	// From is the `from` items; nil where there are none or rules count.
	From *From
	// FromIgnored tells that there are `from` items which do not count, as
	// other policies have rules (SPEC 5.6).
	FromIgnored bool
}

// Evaluate computes the Config of one kind. Selected is the policies of the
// kind that select the dataplane, in order; routes is the policies of the
// route kinds that select it, in any order.
func Evaluate(kind *resource.Kind, d *resource.Dataplane, selected []match.Selected, routes []*resource.Policy) *Config {
	c := &Config{Kind: kind, Matched: selected}
	policies := make([]*resource.Policy, len(selected))
	for i := range selected {
		policies[i] = selected[i].Policy
	}
	if kind.Default != nil {
		c.Default = Default(kind, policies)
	}
	if kind.To != nil {
		c.Outbounds = outbounds(kind, d, policies, routes)
	}
	if kind.From != nil || kind.Rules != nil {
		c.Inbounds = inbounds(kind, d, selected)
	}
	return c
}

func outbounds(kind *resource.Kind, d *resource.Dataplane, policies, routes []*resource.Policy) []OutboundConfig {
	to := NewTo(kind, policies)
	out := make([]OutboundConfig, len(d.Outbounds))
	for i := range d.Outbounds {
		tags := d.Outbounds[i].Tags
		out[i].Effective = to.Outbound(tags)
		if !kind.IsRoute() {
			out[i].Routes = to.routesOf(tags, routes)
		}
	}
	return out
}

func (t *To) routesOf(tags resource.Tags, routes []*resource.Policy) []RouteConfig {
	var out []RouteConfig
	for _, route := range routes {
		if HasRoute(route, tags) {
			out = append(out, RouteConfig{route, t.Route(tags, route)})
		}
	}
	slices.SortFunc(out, func(a, b RouteConfig) int { return cmp.Compare(a.Route.KRI(), b.Route.KRI()) })
	return out
}

func inbounds(kind *resource.Kind, d *resource.Dataplane, selected []match.Selected) []InboundConfig {
	out := make([]InboundConfig, len(d.Inbounds))
	for i := range d.Inbounds {
		var policies []*resource.Policy
		for j := range selected {
			if p := selected[j].Policy; selected[j].Inbounds.Has(i) && !p.TargetRef.Kind.IsRoute() {
				policies = append(policies, p)
			}
		}
		out[i] = inbound(kind, policies)
	}
	return out
}

func inbound(kind *resource.Kind, policies []*resource.Policy) (c InboundConfig) {
	hasRules := slices.ContainsFunc(policies, func(p *resource.Policy) bool { return len(p.Rules) > 0 })
	hasFrom := slices.ContainsFunc(policies, func(p *resource.Policy) bool { return len(p.From) > 0 })
	switch {
	case hasRules && kind.Rules.Unmerged:
		c.Unmerged = unmerged(policies)
	case hasRules:
		c.Rules = Inbound(kind, policies)
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
