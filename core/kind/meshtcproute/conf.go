package meshtcproute

import (
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen

// Conf is the route of connections to one service. Its fields are in the
// item of `to` itself.
//
//confgen:conf hash
type Conf struct {
	Rules Rules `json:"rules"`
}

// Rules is at most one rule, as there is nothing in a connection to choose
// by. An empty list sends connections to the service itself.
type Rules []Rule

// Validate checks the length.
func (r Rules) Validate(at *diag.At) {
	if len(r) > 1 {
		at.Index(1).Errorf("remove it", "only one rule is possible")
	}
}

// Rule is what happens to every connection.
type Rule struct {
	Default RuleConf `json:"default"`
}

// RuleConf is where a connection is sent to: to the service itself where no
// backends are set.
type RuleConf struct {
	BackendRefs []conf.BackendRef `json:"backendRefs,omitzero"`
}
