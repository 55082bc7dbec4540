package meshtcproute

import "github.com/meshmatch/meshmatch/core/resource"

// Kind returns the description of MeshTCPRoute (SPEC 2.4).
func Kind() *resource.Kind {
	conf := resource.ConfOf[Conf, mergerOfConf]()
	return &resource.Kind{
		Name:           "MeshTCPRoute",
		Short:          "mtcpr",
		AcceptsEmpty:   true,
		RefusesEmptyTo: true,
		Top:            resource.TopTargets,
		To:             &resource.Section{Targets: resource.RoutedTargets, Conf: conf, Inline: true},
		Gateway:        &resource.Section{Targets: resource.GatewayTargets, Conf: conf, Inline: true},
	}
}

// New returns the builder of a MeshTCPRoute that selects the whole mesh.
func New(mesh, name string) *resource.PolicyBuilder[Conf, Conf] {
	return resource.NewPolicy[Conf, Conf](Kind(), mesh, name)
}
