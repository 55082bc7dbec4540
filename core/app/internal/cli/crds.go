package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/app/internal/crd"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
)

func newCRDs(g *globals) *cobra.Command {
	return withHelp("crds", &cobra.Command{
		Args: cobra.ArbitraryArgs,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return crdKinds(crd.Definitions(g.kinds, documentTypes())), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			list, err := chosenCRDs(crd.Definitions(g.kinds, documentTypes()), args)
			if err != nil {
				return err
			}
			if g.output.word == "json" {
				return g.encode(c.OutOrStdout(), kubernetesList[crd.Definition]{"v1", "List", list})
			}
			return printYAML(c.OutOrStdout(), list)
		},
	})
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
	return lists.MapPointers(all, func(d *crd.Definition) string { return d.Spec.Names.Kind })
}
