package meshtrace

import "github.com/meshmatch/meshmatch/core/resource"

// Kind returns the description of MeshTrace (SPEC 2.4).
func Kind() *resource.Kind {
	return &resource.Kind{
		Name:    "MeshTrace",
		Short:   "mtr",
		Top:     resource.TopTargets,
		Default: &resource.Section{Conf: resource.ConfOf[Conf, mergerOfConf]()},
	}
}

// New returns the builder of a MeshTrace that selects the whole mesh.
func New(mesh, name string) *resource.PolicyBuilder[Conf, Conf] {
	return resource.NewPolicy[Conf, Conf](Kind(), mesh, name)
}
