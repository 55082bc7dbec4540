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
	// Rules with equal matches are merged.
	Rules []Rule `json:"rules" policyMerge:"mergeValuesByKey"`
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
// equal matches the first one wins. In a merge the later one does, so rules with equal matches
// are in the reverse order. If no two matches are equal, it returns the conf itself.
func (c *Conf) InKuma() resource.Conf {
	var next *Conf
	for i := range c.Rules {
		var equal []int // the rules with the matches of rule i, if it is their first
		for j := range c.Rules {
			if equalMatchList(c.Rules[i].Matches, c.Rules[j].Matches) {
				equal = append(equal, j)
			}
		}
		if len(equal) < 2 || equal[0] != i {
			continue
		}
		if next == nil {
			copied := *c
			copied.Rules = slices.Clone(c.Rules)
			next = &copied
		}
		for k, j := range equal {
			next.Rules[j] = c.Rules[equal[len(equal)-1-k]]
		}
	}
	if next == nil {
		return c
	}
	return next
}
