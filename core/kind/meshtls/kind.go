package meshtls

import "github.com/meshmatch/meshmatch/core/resource"

// Kind returns the description of MeshTLS (SPEC 2.4).
func Kind() *resource.Kind {
	conf := resource.ConfOf[Conf, mergerOfConf]()
	return &resource.Kind{
		Name:         "MeshTLS",
		Short:        "mtls",
		AcceptsEmpty: true,
		Top:          resource.TopTargets,
		From:         &resource.Section{Targets: resource.FromTargets, Conf: conf},
		Rules:        &resource.Section{Conf: conf},
	}
}

// New returns the builder of a MeshTLS that selects the whole mesh.
func New(mesh, name string) *resource.PolicyBuilder[Conf, Conf] {
	return resource.NewPolicy[Conf, Conf](Kind(), mesh, name)
}
