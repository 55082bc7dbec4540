package meshloadbalancingstrategy

import "github.com/meshmatch/meshmatch/core/resource"

// Kind returns the description of MeshLoadBalancingStrategy (SPEC 2.4).
func Kind() *resource.Kind {
	return &resource.Kind{
		Name:         "MeshLoadBalancingStrategy",
		Short:        "mlbs",
		AcceptsEmpty: true,
		Top:          resource.TopTargets | resource.RouteTargets,
		To:           &resource.Section{Targets: resource.ToTargets, Conf: resource.ConfOf[Conf, mergerOfConf]()},
	}
}

// New returns the builder of a MeshLoadBalancingStrategy that selects the whole mesh.
func New(mesh, name string) *resource.PolicyBuilder[Conf, Conf] {
	return resource.NewPolicy[Conf, Conf](Kind(), mesh, name)
}
