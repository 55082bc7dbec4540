package meshtrafficpermission

import "github.com/meshmatch/meshmatch/core/resource"

// Kind returns the description of MeshTrafficPermission (SPEC 2.4, 7.3).
func Kind() *resource.Kind {
	return &resource.Kind{
		Name:          "MeshTrafficPermission",
		Short:         "mtp",
		Top:           resource.TopTargets,
		ItemsRequired: true,
		From:          &resource.Section{Targets: resource.FromTargets, Conf: resource.ConfOf[Conf, mergerOfConf]()},
		Rules:         &resource.Section{Conf: resource.ConfOf[RuleConf, mergerOfRuleConf](), Unmerged: true},
	}
}

// New returns the builder of a MeshTrafficPermission that selects the whole mesh.
func New(mesh, name string) *resource.PolicyBuilder[Conf, RuleConf] {
	return resource.NewPolicy[Conf, RuleConf](Kind(), mesh, name)
}
