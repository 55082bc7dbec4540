package meshcircuitbreaker

import (
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Kind returns the description of MeshCircuitBreaker (SPEC 2.4).
func Kind() *resource.Kind {
	conf := resource.ConfOf[Conf, mergerOfConf]()
	return &resource.Kind{
		Name:          "MeshCircuitBreaker",
		Short:         "mcb",
		ToOrRules:     diag.AsKuma2, // Kuma 3 accepts both
		Top:           resource.TopTargets,
		ItemsRequired: true,
		To: &resource.Section{
			Targets: resource.ToTargets, Conf: conf, HTTPFields: []string{"/connectionLimits/maxRequests", "/connectionLimits/maxRetries"},
		},
		From:  &resource.Section{Targets: resource.FromTargets, Conf: conf},
		Rules: &resource.Section{Conf: conf},
	}
}

// New returns the builder of a MeshCircuitBreaker that selects the whole mesh.
func New(mesh, name string) *resource.PolicyBuilder[Conf, Conf] {
	return resource.NewPolicy[Conf, Conf](Kind(), mesh, name)
}
