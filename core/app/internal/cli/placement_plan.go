package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/placement"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/resource"
)

func newPlacementPlan(g *globals) *cobra.Command {
	var policy, percent, selector string
	as := choice{"placement", []string{"placement", "policy"}}
	var q placement.PlanQuery
	c := withHelp("placement-plan", &cobra.Command{
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			switch {
			case policy == "":
				return usagef("no policy is given; use --policy KIND/NAME")
			case percent == "":
				return usagef("no share is given; use --percent 10, or --percent 10,50,100")
			}
			if q.Percent, err = percentages(percent); err != nil {
				return err
			}
			if as.word == "policy" && q.By == "" {
				return usagef("a policy selects by a label; use --by LABEL with --as policy")
			}
			if q.Labels, err = g.restriction(selector); err != nil {
				return err
			}
			g.keepSources = as.word == "policy"
			w, err := g.load(c)
			if err != nil {
				return err
			}
			p, err := g.policyOf(w, policy)
			if err != nil {
				return err
			}
			if g.keepSources {
				return g.printPolicyPlan(c, w, p, q)
			}
			plan, err := placement.NewPlan(w.view, p, q)
			if err != nil {
				return err
			}
			if !p.Shadow() {
				printWarnings(c, []diag.Diagnostic{{
					Code: diag.OverrideNoEffect, Pos: p.Pos, What: fmt.Sprintf("the plan has no effect: %s enforces by itself", p.ID),
					Hint: "add the label " + resource.EffectLabel + ": shadow to it",
				}})
			}
			return g.printPlan(c, plan)
		},
	})
	flags := c.Flags()
	flags.StringVar(&policy, "policy", "", "the policy, as `KIND/NAME` or KIND/NAMESPACE/NAME")
	flags.StringVar(&percent, "percent", "", "the `SHARE`s of the dataplanes, from 1 to 100, separated by commas")
	flags.StringVar(&q.By, "by", "", "the `LABEL` whose values are not split between waves")
	flags.StringVarP(&selector, "selector", "l", "", "only dataplanes with these labels: `KEY=VALUE[,...]`")
	flags.Var(&as, "as", "what a wave is: `FORM` placement, or policy for a control plane of Kuma")
	g.completeFlag(c, "policy", qualifiedPolicies)
	g.completeFlag(c, "by", labelKeys)
	return c
}

// restriction returns the labels of the dataplanes that a plan is about.
func (g *globals) restriction(selector string) (resource.Tags, error) {
	labels := map[string]string{}
	if selector != "" {
		pairs, err := find.ParseSelection(selector)
		if err != nil {
			return nil, err
		}
		for _, pair := range pairs {
			if pair.Value == resource.AnyValue {
				return nil, usagef("-l %s: a plan is about one value of a label; use --by %s for all", selector, pair.Key)
			}
			labels[pair.Key] = pair.Value
		}
	}
	if g.zone != "" && g.zone != "global" {
		labels[resource.ZoneTag] = g.zone
	}
	return resource.NewTags(labels), nil
}

// printPolicyPlan prints the policies of a plan.
func (g *globals) printPolicyPlan(c *cobra.Command, w *world, p *resource.Policy, q placement.PlanQuery) error {
	document, err := withoutCounters(w.set.Sources[p.Pos])
	if err != nil {
		return err
	}
	plan, err := placement.NewPolicyPlan(w.view, p, document, q)
	if err != nil {
		return err
	}
	return g.printWaves(c, plan.Selected, lists.MapPointers(plan.Waves, func(wave *placement.PolicyWave) printedWave {
		printed := printedWave{wave.Percent, wave.Dataplanes, "", wave.Policies}
		switch {
		case wave.Whole:
			printed.note = "the policy itself; delete those of the earlier waves"
		case p.TargetRef.Kind == resource.TargetMesh:
			printed.note = "by labels, so it overrides other policies for the whole mesh"
		}
		return printed
	}))
}

// kubernetesList is documents as kubectl prints them.
type kubernetesList[T any] struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Items      []T    `json:"items"`
}

// percentages parses numbers from 1 to 100, which may end in %.
func percentages(text string) ([]int, error) {
	var list []int
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(part), "%"))
		if err != nil || n < 1 || n > 100 {
			return nil, usagef("--percent: %q is no number from 1 to 100", part)
		}
		list = append(list, n)
	}
	return list, nil
}

// printPlan prints the placements of a plan.
func (g *globals) printPlan(c *cobra.Command, plan *placement.Plan) error {
	return g.printWaves(c, plan.Selected, lists.MapPointers(plan.Waves, func(wave *placement.Wave) printedWave {
		return printedWave{wave.Percent, wave.Dataplanes, "", []any{wave.Rule, wave.Binding}}
	}))
}

// printedWave is the documents of a wave, with a note if one is needed.
type printedWave struct {
	percent, dataplanes int
	note                string
	documents           []any
}

// printWaves prints the documents of waves: as a list in JSON, otherwise as a stream of YAML
// with a comment for each wave.
func (g *globals) printWaves(c *cobra.Command, selected int, waves []printedWave) error {
	g.reportLeftOut(c)
	out := c.OutOrStdout()
	if g.output.word == "json" {
		list := kubernetesList[any]{"v1", "List", nil}
		for _, wave := range waves {
			list.Items = append(list.Items, wave.documents...)
		}
		return g.encode(out, list)
	}
	for i, wave := range waves {
		if i > 0 {
			fmt.Fprintln(out, "---")
		}
		fmt.Fprintf(out, "# %d %%: %d of %s\n", wave.percent, wave.dataplanes, diag.Count(selected, "dataplane"))
		if wave.note != "" {
			fmt.Fprintln(out, "# "+wave.note)
		}
		for k, document := range wave.documents {
			text, err := toYAML(document)
			if err != nil {
				return err
			}
			if k > 0 {
				fmt.Fprintln(out, "---")
			}
			if _, err := out.Write(text); err != nil {
				return err
			}
		}
	}
	return nil
}
