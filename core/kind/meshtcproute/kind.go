package meshtcproute

import "github.com/meshmatch/meshmatch/core/resource"

// Kind returns the description of MeshTCPRoute (SPEC 2.4).
func Kind() *resource.Kind {
	return &resource.Kind{
		Name:  "MeshTCPRoute",
		Short: "mtcpr",
		Top:   resource.TopTargets,
		To: &resource.Section{
			Targets: resource.RoutedTargets,
			Conf:    resource.ConfOf[Conf, ConfMerger](),
			Inline:  true,
		},
	}
}

// New returns the builder of a MeshTCPRoute that selects the whole mesh.
func New(mesh, name string) *resource.PolicyBuilder[Conf, Conf] {
	return resource.NewPolicy[Conf, Conf](Kind(), mesh, name)
}
