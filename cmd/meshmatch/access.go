package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/inspect"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// accessQuery is what `access` is asked for.
type accessQuery struct {
	inbound string
	filter  bool
	form    filterForm
	requestFlags
}

// accessAnswer is the answer of `access` (SPEC 10).
type accessAnswer struct {
	Decision string               `json:"decision"`
	By       any                  `json:"by"` // a [*permission.Place] or "default"
	Shadow   *permission.Decision `json:"shadow,omitempty"`
	Warnings []inspect.Warning    `json:"warnings"`
	answer   permission.Answer
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
		Args: exactly("DATAPLANE"),
		RunE: func(c *cobra.Command, args []string) error {
			if q.inbound == "" {
				return usagef("say which inbound: --inbound NAME")
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
			permissions := inboundPermissions(w.view, d, i)
			if q.filter {
				return g.printFilter(c, permissions, &d.Inbounds[i], q.form)
			}
			answer := newAccessAnswer(permissions, &q.request)
			if err := g.print(c, answer, func(p *page) { accessPage(p, answer) }); err != nil {
				return err
			}
			if !answer.answer.Decision.Allow {
				return errNo
			}
			return nil
		},
	}
	flags := c.Flags()
	flags.StringVar(&q.inbound, "inbound", "", "the inbound, by name, or by port where it has none (required)")
	q.register(flags)
	flags.BoolVar(&q.filter, "filter", false, "print the inbound's Envoy RBAC filter")
	flags.Var(&q.form, "form", "the form of the filter: matcher, or rules, which is the one that gRPC reads")
	return c
}

// inboundNamed returns the index of an inbound.
func inboundNamed(d *resource.Dataplane, name string) (int, error) {
	var names []string
	for i := range d.Inbounds {
		if d.Inbounds[i].SectionName() == name {
			return i, nil
		}
		names = append(names, d.Inbounds[i].SectionName())
	}
	return 0, fmt.Errorf("%s has no inbound %q; it has %s", d.Name, name, orNone(names))
}

func inboundPermissions(view *core.View, d *resource.Dataplane, inbound int) *permission.Permissions {
	var config *rules.Config
	if configs := view.Configs(d, core.Scope{Kind: permission.KindName}); len(configs) > 0 {
		config = configs[0]
	}
	return permission.Of(config, d, inbound)
}

func newAccessAnswer(p *permission.Permissions, r *permission.Request) *accessAnswer {
	decided := p.Decide(r)
	a := &accessAnswer{Decision: decided.Decision.String(), By: "default", Warnings: []inspect.Warning{}, answer: decided}
	if by := decided.Decision.By; by != nil {
		a.By = by
	}
	if decided.HasShadow {
		a.Shadow = &decided.Shadow
	}
	for _, w := range p.Warnings {
		a.Warnings = append(a.Warnings, inspect.Warning{File: w.Pos.File, Line: w.Pos.Line, Column: w.Pos.Column, Path: w.Path, Message: w.Message()})
	}
	return a
}

func accessPage(p *page, a *accessAnswer) {
	p.row("decision", a.Decision, decider(a.answer.Decision))
	if a.Shadow != nil {
		p.row("shadow", a.Shadow.String(), decider(*a.Shadow))
	}
	for _, w := range a.Warnings {
		p.line("warning: %s:%d:%d: %s: %s", w.File, w.Line, w.Column, w.Path, w.Message)
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
