package meshmetric

import "github.com/meshmatch/meshmatch/core/resource"

// Kind returns the description of MeshMetric (SPEC 2.4).
func Kind() *resource.Kind {
	return &resource.Kind{
		Name:         "MeshMetric",
		Short:        "mm",
		AcceptsEmpty: true,
		Top:          resource.TopTargets,
		Default:      &resource.Section{Conf: resource.ConfOf[Conf, mergerOfConf]()},
	}
}

// New returns the builder of a MeshMetric that selects the whole mesh.
func New(mesh, name string) *resource.PolicyBuilder[Conf, Conf] {
	return resource.NewPolicy[Conf, Conf](Kind(), mesh, name)
}
