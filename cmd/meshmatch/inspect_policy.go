package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/inspect"
)

func newInspectPolicy(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "policy KIND NAME",
		Short: "Show the dataplanes and inbounds that a policy selects",
		Long: `Show the dataplanes and inbounds that a policy selects, and for each of them
whether the policy is enforced there or only informs, and why.`,
		Example: `  meshmatch inspect policy MeshTimeout base -f policies/
  meshmatch inspect policy MeshRetry web -f policies/ --mesh staging -o json`,
		Args: exactly("KIND", "NAME"),
		ValidArgsFunction: func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return completeKinds(c, args, word)
			}
			return g.completeNames(policyNames)(c, args, word)
		},
		RunE: func(c *cobra.Command, args []string) error {
			w, err := g.load(c)
			if err != nil {
				return err
			}
			kind, err := kindNamed(w.view, args[0])
			if err != nil {
				return err
			}
			policy, err := g.policy(w, kind.Name, args[1])
			if err != nil {
				return err
			}
			answer := inspect.NewPolicy(w.view, policy)
			return g.print(c, answer, func(p *page) { policyPage(p, answer) })
		},
	}
}

func policyPage(p *page, a *inspect.Policy) {
	p.heading(0, "%s %s", a.Policy.Kind, a.Policy.Name)
	p.row("mesh", a.Policy.Mesh)
	p.row("level", a.Policy.Level)
	p.row("kri", a.Policy.KRI)
	if len(a.Dataplanes) == 0 {
		p.line("it selects no dataplane")
		return
	}
	p.heading(1, "dataplanes")
	for _, d := range a.Dataplanes {
		p.row(qualified(d.Namespace, d.Name), strings.Join(d.Inbounds, ", "), d.Action, d.Because)
	}
}
