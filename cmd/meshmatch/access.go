package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/inspect"
	"github.com/meshmatch/meshmatch/core/permission"
)

// accessQuery is what `access` is asked for.
type accessQuery struct {
	inbound string
	filter  bool
	form    filterForm
	requestFlags
}

func newAccess(g *globals) *cobra.Command {
	q := accessQuery{form: "matcher"}
	c := &cobra.Command{
		Use:   "access DATAPLANE --inbound NAME",
		Short: "Tell whether an inbound lets a request in, and which policy decides",
		Long: `Tell whether the MeshTrafficPermissions of an inbound let a request in, which
entry of which policy decides, and what it would be if allowWithShadowDeny were
deny. What is not given is not there: a client without --spiffe-id has none.
With --filter print instead the Envoy RBAC filter that decides the same.

Exit status: 0 allowed; 1 denied.`,
		Example: `  meshmatch access backend-1 --inbound http -f policies/ \
      --spiffe-id spiffe://shop.mesh/ns/shop/sa/web --method GET --path /items
  meshmatch access backend-1 --inbound tcp -f policies/ --tag kuma.io/service=web
  meshmatch access backend-1 --inbound http -f policies/ --filter --form rules`,
		Args:              exactly("DATAPLANE"),
		ValidArgsFunction: g.completeNames(dataplaneNames),
		RunE: func(c *cobra.Command, args []string) error {
			if q.inbound == "" {
				return usagef("say which inbound: --inbound NAME")
			}
			switch {
			case q.filter && q.given():
				return usagef("a filter is for all requests; give --filter or a request, not both")
			case !q.filter && c.Flags().Changed("form"):
				return usagef("--form belongs to --filter")
			}
			if err := q.parse(); err != nil {
				return err
			}
			w, err := g.load(c)
			if err != nil {
				return err
			}
			d, err := g.dataplane(w, args[0])
			if err != nil {
				return err
			}
			i, err := inboundNamed(d, q.inbound)
			if err != nil {
				return err
			}
			permissions := inspect.Permissions(w.view, d, i)
			if q.filter {
				return g.printFilter(c, permissions, &d.Inbounds[i], q.form)
			}
			answer := inspect.NewAccess(permissions, &q.request)
			if err := g.print(c, answer, func(p *page) { accessPage(p, answer) }); err != nil {
				return err
			}
			if !answer.Answer.Decision.Allow {
				return errNo
			}
			return nil
		},
	}
	flags := c.Flags()
	flags.StringVar(&q.inbound, "inbound", "", "the inbound, by `NAME` (by port where it has none), or by address and port (required)")
	q.register(flags)
	flags.BoolVar(&q.filter, "filter", false, "print the inbound's Envoy RBAC filter")
	flags.Var(&q.form, "form", "the `FORM` of the filter: matcher, or rules, which is the one that gRPC reads")
	return c
}

func accessPage(p *page, a *inspect.Access) {
	p.row("decision", a.Decision, decider(a.Answer.Decision))
	if a.Shadow != nil {
		p.row("shadow", a.Shadow.String(), decider(*a.Shadow))
	}
	for _, w := range a.Warnings {
		p.line("warning: %s", w)
	}
}

// decider says who decides.
func decider(d permission.Decision) string {
	switch {
	case d.By == nil:
		return "by default"
	case d.By.List == permission.From:
		return d.By.KRI + " from[" + strconv.Itoa(d.By.Index) + "]"
	}
	return fmt.Sprintf("%s rules[%d].%s[%d]", d.By.KRI, d.By.Rule, d.By.List, d.By.Index)
}
