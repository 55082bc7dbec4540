package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/inspect"
)

func newInspect(g *globals) *cobra.Command {
	c := &cobra.Command{
		Use:   "inspect",
		Short: "Show what a dataplane gets, or what a policy selects",
		Args:  subcommand,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newInspectDataplane(g), newInspectPolicy(g))
	return c
}

func newInspectDataplane(g *globals) *cobra.Command {
	var options inspect.Options
	c := &cobra.Command{
		Use:   "dataplane NAME",
		Short: "Show the effective configuration of a dataplane, and why",
		Long: `Show, for each policy kind, the policies that select the dataplane (later ones
override), and the merged conf of each outbound, route and inbound with the
items that set it.`,
		Example: `  meshmatch inspect dataplane web-1 -f policies/
  meshmatch inspect dataplane web-1 -f policies/ --kind MeshTimeout --explain -o json
  meshmatch inspect dataplane web-1 -f policies/ --shadow`,
		Args:              exactly("NAME"),
		ValidArgsFunction: g.completeNames(dataplaneNames),
		RunE: func(c *cobra.Command, args []string) error {
			w, err := g.load(c)
			if err != nil {
				return err
			}
			if options.Kind != "" {
				if _, err := kindNamed(w.view, options.Kind); err != nil {
					return err
				}
			}
			d, err := g.dataplane(w, args[0])
			if err != nil {
				return err
			}
			shown := options
			if g.output.String() == "table" {
				shown.Explain = true // the table has the winning item beside each value
			}
			answer, err := inspect.NewDataplane(w.view, d, shown)
			if err != nil {
				return err
			}
			return g.print(c, answer, func(p *page) { dataplanePage(p, answer) })
		},
	}
	flags := c.Flags()
	flags.StringVar(&options.Kind, "kind", "", "only this policy `KIND`")
	flags.BoolVar(&options.Shadow, "shadow", false, "as if the policies that only inform were enforced")
	flags.BoolVar(&options.Ordered, "ordered", false, "show from as rules of which the first match counts, instead of disjoint ones")
	flags.BoolVar(&options.Explain, "explain", false, "the item that set each field")
	return c
}

func dataplanePage(p *page, a *inspect.Dataplane) {
	d := &a.Dataplane
	p.heading(0, "Dataplane %s", d.Name)
	p.row("mesh", d.Mesh)
	if d.Namespace != "" {
		p.row("namespace", d.Namespace)
	}
	p.row("kri", d.KRI)
	if len(a.Policies) == 0 {
		p.line("no policy selects it")
	}
	for i := range a.Policies {
		kindPage(p, &a.Policies[i])
	}
}

func kindPage(p *page, k *inspect.Kind) {
	p.heading(0, "%s", k.Kind)
	p.heading(1, "matched, later overrides")
	for _, m := range k.Matched {
		p.row(m.Level, qualified(m.Namespace, m.Name), strings.Join(m.Inbounds, ", "))
	}
	if k.Default != nil {
		p.heading(1, "default")
		confRows(p, k.Default)
	}
	for i := range k.Outbounds {
		outboundPage(p, &k.Outbounds[i])
	}
	for i := range k.Inbounds {
		inboundPage(p, &k.Inbounds[i])
	}
}

// outboundPage shows what is selected; an outbound or route without a conf
// would only be in the way.
func outboundPage(p *page, o *inspect.Outbound) {
	title := "outbound " + o.Outbound.String()
	if o.C != nil {
		p.heading(1, "%s", title)
		confRows(p, o.C)
	}
	for _, r := range o.Routes {
		if r.C != nil {
			p.heading(1, "%s, route %s", title, r.Route)
			confRows(p, r.C)
		}
	}
}

func inboundPage(p *page, i *inspect.Inbound) {
	if len(i.Rules)+len(i.From)+len(i.Permissions) == 0 {
		return
	}
	p.heading(1, "inbound %s %s", i.Inbound.Name, i.Inbound.Tags)
	for _, r := range i.Rules {
		p.heading(2, "when %s", inspect.MatchTitle(&r.Match))
		confRows(p, r.C)
	}
	for _, f := range i.From {
		p.heading(2, "from %s", inspect.ClientsTitle(f.Selector))
		confRows(p, f.C)
	}
	kri, rule := "", 0
	for _, r := range i.Permissions {
		rule++
		if r.KRI != kri {
			kri, rule = r.KRI, 0
			p.heading(2, "permissions of %s", kri)
		}
		permissionRows(p, rule, r.Conf)
	}
}

func qualified(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}
