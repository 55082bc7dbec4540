package meshtcproute

import (
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen

// Conf contains the route of connections to one service. Its fields are in the item
// of `to` itself.
//
//confgen:conf hash schema
type Conf struct {
	Rules Rules `json:"rules"`
}

// Rules contains at most one rule, because a connection has no property by which to
// choose a rule. An empty list sends connections to the service itself.
//
//confgen:openapi {"maxItems": 1}
type Rules []Rule

// Validate checks the length.
func (r Rules) Validate(at *diag.At) {
	if len(r) > 1 {
		at.Index(1).Errorf(diag.TooManyItems, "remove it", "only one rule is possible")
	}
}

// Rule applies to every connection.
type Rule struct {
	Default RuleConf `json:"default"`
}

// RuleConf contains the destinations of a connection. If no backends are set, the
// destination is the service itself.
//
//confgen:openapi {"required": ["backendRefs"], "allOf": [{"properties": {"backendRefs": {"minItems": 1}}}]}
type RuleConf struct {
	BackendRefs []conf.BackendRef `json:"backendRefs,omitzero"`
}

// Validate checks that the connections have a destination.
func (c *RuleConf) Validate(at *diag.At) {
	if len(c.BackendRefs) == 0 {
		at.Field("backendRefs").Errorf(diag.EmptyValue, "give a backend, or remove the rule", "must not be empty")
	}
}
