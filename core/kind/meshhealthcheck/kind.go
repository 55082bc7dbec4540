package meshhealthcheck

import "github.com/meshmatch/meshmatch/core/resource"

// Kind returns the description of MeshHealthCheck (SPEC 2.4).
func Kind() *resource.Kind {
	return &resource.Kind{
		Name:         "MeshHealthCheck",
		Short:        "mhc",
		AcceptsEmpty: true,
		Top:          resource.TopTargets,
		To: &resource.Section{
			Targets: resource.ToTargets, Conf: resource.ConfOf[Conf, mergerOfConf](), HTTPFields: []string{"/http", "/grpc"},
		},
	}
}

// New returns the builder of a MeshHealthCheck that selects the whole mesh.
func New(mesh, name string) *resource.PolicyBuilder[Conf, Conf] {
	return resource.NewPolicy[Conf, Conf](Kind(), mesh, name)
}
