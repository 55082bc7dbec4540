package meshretry

import "github.com/meshmatch/meshmatch/core/resource"

// Kind returns the description of MeshRetry (SPEC 2.4).
func Kind() *resource.Kind {
	return &resource.Kind{
		Name:          "MeshRetry",
		Short:         "mr",
		AcceptsEmpty:  true,
		Top:           resource.TopTargets | resource.RouteTargets,
		ItemsRequired: true,
		To: &resource.Section{
			Targets: resource.ToTargets, Conf: resource.ConfOf[Conf, mergerOfConf](), HTTPFields: []string{"/http", "/grpc"},
		},
	}
}

// New returns the builder of a MeshRetry that selects the whole mesh.
func New(mesh, name string) *resource.PolicyBuilder[Conf, Conf] {
	return resource.NewPolicy[Conf, Conf](Kind(), mesh, name)
}
