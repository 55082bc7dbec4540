package meshfaultinjection

import "github.com/meshmatch/meshmatch/core/resource"

// Kind returns the description of MeshFaultInjection (SPEC 2.4).
func Kind() *resource.Kind {
	conf := resource.ConfOf[Conf, mergerOfConf]()
	return &resource.Kind{
		Name:         "MeshFaultInjection",
		Short:        "mfi",
		AcceptsEmpty: true,
		Top:          resource.TopTargets,
		From:         &resource.Section{Targets: resource.FromTargets, Conf: conf},
		Gateway:      &resource.Section{Targets: resource.GatewayTargets, Conf: conf},
		Rules:        &resource.Section{Conf: conf, Matches: true},
	}
}

// New returns the builder of a MeshFaultInjection that selects the whole mesh.
func New(mesh, name string) *resource.PolicyBuilder[Conf, Conf] {
	return resource.NewPolicy[Conf, Conf](Kind(), mesh, name)
}
