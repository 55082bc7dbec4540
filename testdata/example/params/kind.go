// Package params defines the policy kind Params, which the abstract examples of the
// proposal use: confs of three parameters, for outbounds and for clients.
package params

import "github.com/meshmatch/meshmatch/core/resource"

//go:generate go tool confgen

// Conf sets parameters.
//
//confgen:conf schema
type Conf struct {
	Param1 *string `json:"param1,omitzero"`
	Param2 *string `json:"param2,omitzero"`
	Param3 *string `json:"param3,omitzero"`
}

// Kind returns the description of Params.
func Kind() *resource.Kind {
	conf := resource.ConfOf[Conf, mergerOfConf]()
	return &resource.Kind{
		Name:  "Params",
		Short: "params",
		Top:   resource.TopTargets,
		To:    &resource.Section{Targets: resource.ToTargets, Conf: conf},
		From:  &resource.Section{Targets: resource.FromTargets, Conf: conf},
	}
}
