package meshtimeout

import (
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Kind returns the description of MeshTimeout (SPEC 2.4).
func Kind() *resource.Kind {
	conf := resource.ConfOf[Conf, mergerOfConf]()
	return &resource.Kind{
		Name:      "MeshTimeout",
		Short:     "mt",
		ToOrRules: diag.AsKuma, NoFromBelowGateways: true,
		Top:           resource.TopTargets | resource.RouteTargets,
		ItemsRequired: true,
		To:            &resource.Section{Targets: resource.ToTargets, Conf: conf, HTTPFields: []string{"/http"}},
		From:          &resource.Section{Targets: resource.FromTargets, Conf: conf},
		Rules:         &resource.Section{Conf: conf, Matches: true},
	}
}

// New returns the builder of a MeshTimeout that selects the whole mesh.
func New(mesh, name string) *resource.PolicyBuilder[Conf, Conf] {
	return resource.NewPolicy[Conf, Conf](Kind(), mesh, name)
}
