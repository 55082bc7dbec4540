package meshratelimit

import (
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Kind returns the description of MeshRateLimit (SPEC 2.4).
func Kind() *resource.Kind {
	conf := resource.ConfOf[Conf, mergerOfConf]()
	return &resource.Kind{
		Name:         "MeshRateLimit",
		Short:        "mrl",
		AcceptsEmpty: true,
		ToOrRules:    diag.AsKuma, NoFromBelowGateways: true,
		Top:     resource.TopTargets | resource.RouteTargets,
		From:    &resource.Section{Targets: resource.FromTargets, Conf: conf},
		Gateway: &resource.Section{Targets: resource.GatewayTargets, Conf: conf},
		Rules:   &resource.Section{Conf: conf, Matches: true},
	}
}

// New returns the builder of a MeshRateLimit that selects the whole mesh.
func New(mesh, name string) *resource.PolicyBuilder[Conf, Conf] {
	return resource.NewPolicy[Conf, Conf](Kind(), mesh, name)
}
