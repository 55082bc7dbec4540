package budget

import "github.com/meshmatch/meshmatch/core/resource"

// Kind returns the policy kind RequestBudget.
func Kind() *resource.Kind {
	return &resource.Kind{
		Name:  "RequestBudget",
		Short: "rb",
		Top:   resource.TopTargets,
		To:    &resource.Section{Targets: resource.ToTargets, Conf: resource.ConfOf[Conf, mergerOfConf]()},
	}
}

// New returns the builder of a RequestBudget that selects the whole mesh, for programs that
// make policies in Go.
func New(mesh, name string) *resource.PolicyBuilder[Conf, Conf] {
	return resource.NewPolicy[Conf, Conf](Kind(), mesh, name)
}
