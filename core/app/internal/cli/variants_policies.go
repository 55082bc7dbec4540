package cli

import (
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/policyvariants"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/resource"
)

func newVariantsPolicies(g *globals) *cobra.Command {
	var kindName, outbound string
	c := withHelp("variants-policies", &cobra.Command{
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case kindName == "":
				return usagef("no policy kind is given; give --kind, such as MeshTimeout")
			case outbound == "":
				return usagef("no outbound is given; give --outbound, such as backend")
			}
			kind, err := find.Kind(g.kinds, kindName)
			if err != nil {
				return err
			}
			if err := policyvariants.Supports(kind); err != nil {
				return usagef("%w", err)
			}
			w, err := g.load(c)
			if err != nil {
				return err
			}
			answer, err := new(policyvariants.Index).Ask(w.view, w.mesh, kind, outbound)
			return printed(g, c, answer, err, policyVariantsPage)
		},
	})
	flags := c.Flags()
	flags.StringVar(&kindName, "kind", "", "the policy `KIND` (required)")
	flags.StringVar(&outbound, "outbound", "", "the `SERVICE` of the outbounds, with further tags SERVICE?KEY=VALUE&KEY=VALUE (required)")
	return c
}

// policyVariantsPage prints the variants that serve most dataplanes first.
func policyVariantsPage(p *page, a *policyvariants.Answer) {
	v, usage := a.Compiled, a.Usage
	p.heading(0, "%s for outbounds to %s: %s in the place of %s", v.Kind.Name, v.Destination, diag.Count(v.Set.Len(), "variant"), diag.Count(usage.Dataplanes, "resource"))
	order := make([]int, v.Set.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return usage.Served[b] - usage.Served[a] })
	p.row("dataplanes", "conf", "constraint")
	for _, i := range order {
		content := v.Contents[i]
		text := "none"
		if content.Conf != nil {
			text = shortJSON(content.Conf)
		}
		for _, r := range content.Routes {
			text += "  " + r.Route.Name + ": " + shortJSON(r.Conf)
		}
		p.row(strconv.Itoa(usage.Served[i]), text, v.Set.Short(i))
	}
	if len(usage.Others) > 0 {
		names := lists.Map(usage.Others, func(d *resource.Dataplane) string { return d.Name })
		p.line("%s whose inbounds choose different variants: %s", diag.Count(len(names), "dataplane"), someOf(names, 10))
	}
}
