package meshhttproute

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/resource"
)

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen

// Conf contains the routes of HTTP requests to one service. Its fields are in the item
// of `to` itself.
//
//confgen:conf hash schema
type Conf struct {
	// Hostnames limits the rules of a gateway to requests for these hosts.
	Hostnames []Hostname `json:"hostnames,omitzero"`
	// Rules with equal matches are merged. Those of the policy with the highest priority are
	// first, because of two equal matches the first one is served.
	Rules []Rule `json:"rules" policyMerge:"mergeValuesByKey,highestFirst"`
}

// Rule is the configuration of the requests that at least one of its matches
// selects.
//
//confgen:openapi {"allOf": [{"properties": {"matches": {"minItems": 1}}}]}
type Rule struct {
	Matches []Match  `json:"matches" policyMerge:"mergeKey"`
	Default RuleConf `json:"default"`
}

// RuleConf changes a request and sends it to backends. If no backends are set, it
// sends the request to the service itself.
type RuleConf struct {
	Filters     []Filter          `json:"filters,omitzero"`
	BackendRefs []conf.BackendRef `json:"backendRefs,omitzero"`
}

// InKuma returns the conf as a control plane of Kuma merges it: of two rules of one item with
// equal matches the first one wins, at its place. In a merge the last one does, so rules with
// equal matches are in the reverse order, at the place of the first. If no two matches are
// equal, it returns the conf itself.
func (c *Conf) InKuma() resource.Conf {
	rules := make([]Rule, 0, len(c.Rules))
	repeats := false
	for i := range c.Rules {
		same := func(r Rule) bool { return equalMatchList(c.Rules[i].Matches, r.Matches) }
		at := slices.IndexFunc(rules, same)
		repeats = repeats || at >= 0
		if at < 0 {
			at = len(rules)
		}
		rules = slices.Insert(rules, at, c.Rules[i])
	}
	if !repeats {
		return c
	}
	next := *c
	next.Rules = rules
	return &next
}
