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

// InboundConfig is an inbound's rules, first match first.
type InboundConfig struct {
	Rules []InboundRule
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
		if kind.Rules != nil && !kind.Rules.Unmerged {
			out[i].Rules = Inbound(kind, policies)
		}
	}
	return out
}
