package cli

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/enforce/rollout"
)

func newRolloutPlan(g *globals) *cobra.Command {
	at := time.Now()
	c := withHelp("rollout-plan", &cobra.Command{
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := g.refuseKeepGoing("rollout plan"); err != nil {
				return err
			}
			w, err := g.loadAll(c, g.files)
			if err != nil {
				return err
			}
			if _, err := g.servedSemantics(w.set); err != nil {
				return err
			}
			answer, warnings := rollout.NewPlans(ocm.Read(w.set), at)
			printWarnings(c, warnings)
			return g.print(c, answer, func(p *page) { rolloutPage(p, answer) })
		},
	})
	const usage = "the `TIME` of the plan, such as 2026-11-22T12:00:00Z (default the present time)"
	c.Flags().Func("now", usage, func(text string) (err error) {
		if at, err = time.Parse(time.RFC3339, text); err != nil {
			return fmt.Errorf("must be a time such as 2026-11-22T12:00:00Z")
		}
		return nil
	})
	return c
}

func rolloutPage(p *page, a *rollout.Plans) {
	if len(a.Rollouts) == 0 {
		p.heading(0, "no rollouts")
		return
	}
	for _, plan := range a.Rollouts {
		p.heading(0, "rollout %s", plan.Name)
		p.row("stopped", strconv.FormatBool(plan.Stopped))
		if plan.RecheckAfter != nil {
			p.row("recheck after", plan.RecheckAfter.String())
		}
		if len(plan.Clusters) == 0 {
			p.line("the placement has no clusters")
			continue
		}
		p.heading(1, "clusters")
		for _, c := range plan.Clusters {
			p.row(c.Cluster, c.Group, string(c.Status), string(c.Action), c.Reason)
		}
	}
}
