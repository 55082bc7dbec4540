package meshhttproute

import "github.com/meshmatch/meshmatch/core/conf"

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
