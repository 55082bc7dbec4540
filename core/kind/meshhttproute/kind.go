package meshhttproute

import "github.com/meshmatch/meshmatch/core/resource"

// Kind returns the description of MeshHTTPRoute (SPEC 2.4).
func Kind() *resource.Kind {
	conf := resource.ConfOf[Conf, mergerOfConf]()
	return &resource.Kind{
		Name:         "MeshHTTPRoute",
		Short:        "mhttpr",
		AcceptsEmpty: true,
		Top:          resource.TopTargets,
		To:           &resource.Section{Targets: resource.RoutedTargets, Conf: conf, Inline: true},
		Gateway:      &resource.Section{Targets: resource.GatewayTargets, Conf: conf, Inline: true},
	}
}

// New returns the builder of a MeshHTTPRoute that selects the whole mesh.
func New(mesh, name string) *resource.PolicyBuilder[Conf, Conf] {
	return resource.NewPolicy[Conf, Conf](Kind(), mesh, name)
}
