package results

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Config is the effective configuration of a dataplane from the policies of one
// kind.
type Config struct {
	Kind *resource.Kind
	// Matched is the list of the policies that select the dataplane, in order;
	// later policies override.
	Matched Matched
	// Default is the only conf of a kind without arrays (SPEC 4.4).
	Default *Effective
	// Outbounds are the confs of the outbounds that the dataplane lists by tags, sorted by
	// Index; nil if the kind has no `to`. An outbound to a destination is not among them:
	// other items select it (SPEC 17.3), and dataplanes with one Config may differ in it.
	Outbounds []OutboundConfig
	// Inbounds are parallel to the dataplane's; nil if the kind has no array for them. All
	// inbounds of a mesh that the same policies select share one pointer; no other inbound
	// has it.
	Inbounds []*InboundConfig
}

// Outbound returns the conf of the outbound with an index in the list of the dataplane; nil
// if the kind has no `to`, or if the outbound is not listed by tags.
func (c *Config) Outbound(index int) *OutboundConfig {
	at := index
	if at >= len(c.Outbounds) || c.Outbounds[at].Index != index { // an earlier one has no tags
		var found bool
		at, found = slices.BinarySearchFunc(c.Outbounds, index, func(o OutboundConfig, index int) int { return o.Index - index })
		if !found {
			return nil
		}
	}
	return &c.Outbounds[at]
}

// OutboundConfig is the conf of an outbound, nil if no item selects it, and the
// confs of its routes, sorted by KRI (SPEC 4.2, 4.3).
type OutboundConfig struct {
	// Index identifies the outbound, in the dataplane's list of outbounds or, for one to a
	// destination, in its list of these.
	Index int
	*Effective
	Routes []RouteConfig
}

// RouteConfig is the conf of a route. The Effective is nil if no item selects
// the route or its outbound.
type RouteConfig struct {
	Route *resource.Policy
	*Effective
}

// InboundConfig is the configuration of an inbound for its clients and requests.
// It has Rules or From, never both; both are empty if no policy has an item for
// the inbound.
type InboundConfig struct {
	// Rules are the merged rules, most specific first; the first that matches a
	// request applies (SPEC 7.1).
	Rules []InboundRule
	// Unmerged are the rules of a kind whose rules are never merged: in the
	// order of the policies, then in the order of each policy's rules (SPEC
	// 7.3).
	Unmerged []Contribution
	// From contains the `from` items; nil if there are none, or if rules apply.
	From *From
	// FromIgnored reports that `from` items are ignored because other policies
	// have rules (SPEC 5.6), or because the semantics ignores them (SPEC 17.1).
	FromIgnored bool
}

// InboundRule is one rule of an inbound.
type InboundRule struct {
	Match conf.Match
	*Effective
}
