package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/resource"
)

func newInspectPolicy(g *globals) *cobra.Command {
	var expand bool
	c := withHelp("inspect-policy", &cobra.Command{
		Aliases: []string{"policies"},
		Args:    exactly("KIND", "NAME"),
		ValidArgsFunction: func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return g.completeKinds(c, args, word)
			}
			return g.completeNames(g.policyNames)(c, args, word)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if isPlaced(args) && !expand {
				return g.inspectPlaced(c, args[1])
			}
			kind, err := find.Kind(g.kinds, args[0])
			if err != nil {
				return err
			}
			w, err := g.load(c)
			if err != nil {
				return err
			}
			policy, err := find.Policy(w.view, w.mesh, kind.Name, g.named(args[1]))
			if err != nil {
				return err
			}
			if expand {
				return g.printDocuments(c, []*resource.Policy{policy})
			}
			answer, err := inspect.NewPolicy(w.view, policy, g.withSource())
			return printed(g, c, answer, err, policyPage)
		},
	})
	c.Flags().BoolVar(&expand, "expand", false, "print the policy with its syntactic sugar expanded")
	return c
}

func policyPage(p *page, a *inspect.Policy) {
	p.heading(0, "%s %s", a.Policy.Kind, a.Policy.Name)
	p.row("mesh", a.Policy.Mesh)
	p.field("namespace", a.Policy.Namespace)
	p.row("level", a.Policy.Level)
	if p.wide {
		p.row("kri", a.Policy.KRI)
		p.row("source", a.Policy.Source)
	}
	if len(a.Dataplanes) == 0 {
		p.line("it selects no dataplane")
		return
	}
	p.heading(1, "dataplanes")
	for _, d := range a.Dataplanes {
		p.row(p.name(d.Namespace, d.Name, d.KRI), d.Action, listed(slices.Concat(d.Inbounds, d.Listeners)), causes(d.Action, d.Because), d.Source)
	}
}

// causes names what causes the action of a policy on a dataplane.
func causes(action string, bindings []string) string {
	const label = "label " + resource.EffectLabel + "=shadow"
	switch {
	case len(bindings) > 0:
		return "binding " + listed(bindings)
	case action == ocm.Inform.String():
		return label
	}
	return "no " + label
}
