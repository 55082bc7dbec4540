package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/app/internal/crd"
	"github.com/meshmatch/meshmatch/core/diag"
)

func newCRDs(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "crds [KIND...]",
		Short: "Print CustomResourceDefinitions of the kinds that are read on Kubernetes",
		Long: `Print the CustomResourceDefinitions of all kinds, or of the given ones: the policies,
those of an embedder included, Mesh, Dataplane, the destinations and the other objects
of Kuma, and the resources of Open Cluster Management. They are for clusters in which
neither Kuma nor Open Cluster Management is installed; these install their own.

The API server then refuses an object with an unknown field, a wrong type or a value out
of range. "check -f k8s://" finds the rest.

Exit status: 0 done; 2 an unknown kind.`,
		Example: `  meshmatch crds
  meshmatch crds MeshTimeout Dataplane
  meshmatch crds mt -o json`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: g.completeCRDs,
		RunE: func(c *cobra.Command, args []string) error {
			list, err := chosenCRDs(crd.Definitions(g.kinds, documentTypes()), args)
			if err != nil {
				return err
			}
			if g.output.word == "json" {
				return g.encode(c.OutOrStdout(), struct {
					APIVersion string           `json:"apiVersion"`
					Kind       string           `json:"kind"`
					Items      []crd.Definition `json:"items"`
				}{"v1", "List", list})
			}
			return printYAML(c.OutOrStdout(), list)
		},
	}
}

// chosenCRDs returns the definitions of the named kinds, or all if there are no names. A
// name is a kind, its plural or its short name, in any letter case.
func chosenCRDs(all []crd.Definition, names []string) ([]crd.Definition, error) {
	if len(names) == 0 {
		return all, nil
	}
	chosen := map[string]bool{}
	for _, name := range names {
		found := false
		for i := range all {
			known := all[i].Spec.Names
			if slices.Contains(append(known.ShortNames, known.Singular, known.Plural), strings.ToLower(name)) {
				found, chosen[known.Kind] = true, true
			}
		}
		if !found {
			hint := diag.DidYouMean(name, crdKinds(all))
			if hint == "" {
				hint = "crds without a name prints all"
			}
			return nil, usagef("unknown kind %q; %s", name, hint)
		}
	}
	return slices.DeleteFunc(all, func(d crd.Definition) bool { return !chosen[d.Spec.Names.Kind] }), nil
}

func crdKinds(all []crd.Definition) []string {
	var kinds []string
	for i := range all {
		kinds = append(kinds, all[i].Spec.Names.Kind)
	}
	return kinds
}

func (g *globals) completeCRDs(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return crdKinds(crd.Definitions(g.kinds, documentTypes())), cobra.ShellCompDirectiveNoFileComp
}
