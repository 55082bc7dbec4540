package cli

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/check"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/placement"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
)

func newPlacement(g *globals) *cobra.Command {
	var policy string
	c := withHelp("placement", &cobra.Command{
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			w, err := g.loadAll(c, g.files)
			if err != nil {
				return err
			}
			if meshes := w.view.Meshes(); len(meshes) > 0 || g.mesh != "" {
				if w.mesh, err = g.chooseMesh(meshes); err != nil {
					return err
				}
			}
			printWarnings(c, check.PlacementWarnings(w.view))
			answer := placement.New(w.view, w.mesh)
			if policy != "" {
				if answer, err = answer.Named(g.named(policy)); err != nil {
					return err
				}
			}
			if slices.ContainsFunc(answer.Policies, func(p placement.PlacedPolicy) bool { return p.Kind != ocm.PolicyKind }) {
				noteServed(c, w.view)
			}
			return g.print(c, answer, func(p *page) { placementPage(p, answer) })
		},
	})
	c.Flags().StringVar(&policy, "policy", "", "only the policies of this `NAME` or NAMESPACE/NAME")
	c.AddCommand(newPlacementPlan(g))
	return c
}

// noteServed warns that a control plane of Kuma ignores placements (SPEC 13.7).
func noteServed(c *cobra.Command, view *core.View) {
	if view.Semantics() != semantics.TargetRef {
		fmt.Fprintln(c.ErrOrStderr(), `note: placements act where meshmatch serves; for a control plane of Kuma, "placement plan --as policy" prints policies`)
	}
}

// placementPage prints a line for each policy, and then the targets of each.
func placementPage(p *page, a *placement.Placements) {
	if len(a.Policies) == 0 {
		p.heading(0, "no policy informs, and no binding places one")
		return
	}
	p.heading(0, "policies")
	p.row("POLICY", "ACTION", "ENFORCED ON", "INFORMS ON")
	for i := range a.Policies {
		policy := &a.Policies[i]
		p.row(policy.Kind+" "+p.name(policy.Namespace, policy.Name, ""), policy.RemediationAction,
			strconv.Itoa(policy.Count(ocm.Enforce)), strconv.Itoa(policy.Count(ocm.Inform)))
	}
	for _, policy := range a.Policies {
		if len(policy.Targets) == 0 {
			continue
		}
		p.heading(0, "%s %s", policy.Kind, p.name(policy.Namespace, policy.Name, ""))
		for _, t := range policy.Targets {
			p.row(p.name("", t.Name, t.Dataplane), t.Action, listed(t.Because))
		}
	}
}

// printWarnings prints warnings next to an answer.
func printWarnings(c *cobra.Command, warnings []diag.Diagnostic) {
	for _, w := range warnings {
		printError(c.ErrOrStderr(), "warning: ", w)
	}
}
