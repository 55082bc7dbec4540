package rules

import (
	"github.com/meshmatch/meshmatch/core/match"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Config is everything that the policies of one kind say about a dataplane.
type Config struct {
	Kind *resource.Kind
	// Matched is the policies that select the dataplane, later ones
	// overriding.
	Matched match.Matched
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

// Evaluate computes the Config of one kind for one dataplane by itself.
// Matched is the policies of the kind that select the dataplane; routes is the
// policies of the route kinds that select it, in any order.
func Evaluate(kind *resource.Kind, d *resource.Dataplane, matched match.Matched, routes []*resource.Policy) *Config {
	blocks := NewBlocks() // that nobody shares
	part := blocks.Part(kind, d, matched)
	if kind.To == nil {
		return part.Config()
	}
	return blocks.Outbounds(part, nil, routes).Config(d, nil)
}
