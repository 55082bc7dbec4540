package meshaccesslog

import (
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Kind returns the description of MeshAccessLog (SPEC 2.4).
func Kind() *resource.Kind {
	conf := resource.ConfOf[Conf, mergerOfConf]()
	return &resource.Kind{
		Name:          "MeshAccessLog",
		Short:         "mal",
		ToOrRules:     diag.AsKuma,
		Top:           resource.TopTargets | resource.RouteTargets,
		ItemsRequired: true,
		To:            &resource.Section{Targets: resource.ToTargets, Conf: conf},
		From:          &resource.Section{Targets: resource.FromTargets, Conf: conf},
		Rules:         &resource.Section{Conf: conf, Matches: true},
	}
}

// New returns the builder of a MeshAccessLog that selects the whole mesh.
func New(mesh, name string) *resource.PolicyBuilder[Conf, Conf] {
	return resource.NewPolicy[Conf, Conf](Kind(), mesh, name)
}
