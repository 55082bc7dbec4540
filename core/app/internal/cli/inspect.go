package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/proxied"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
)

func newInspectDataplane(g *globals) *cobra.Command {
	var options inspect.Options
	var t targets
	c := withHelp("inspect-dataplane", &cobra.Command{
		Aliases:           []string{"dp", "dataplanes"},
		Args:              t.args("NAME"),
		ValidArgsFunction: g.completeNames(targetNames),
		RunE: func(c *cobra.Command, args []string) error {
			w, err := g.loadTargets(c, &t, args)
			if err != nil {
				return err
			}
			options.Source = g.withSource()
			options.Explain = options.Explain || g.isTable() // the table has the item that set each value
			state := snapshot.NewBuilder(g.translators, snapshot.Options{}).At(w.view)
			return g.printAnswers(c, &t, lists.Map(t.list, func(d *resource.Dataplane) answered {
				if options.Explain {
					options.NoEffect = proxied.NoEffectInMesh(state, d)
				}
				answer, errLimit := inspect.NewDataplane(w.view, d, options)
				if t.several() {
					return answerAbout(w, d, &answer.Configuration, errLimit, configurationPage)
				}
				return answerAbout(w, d, answer, errLimit, dataplanePage)
			}))
		},
	})
	t.register(c)
	flags := c.Flags()
	g.kindFlag(flags, "only this policy `KIND`", func(k *resource.Kind) { options.Kind = k.Name })
	flags.BoolVar(&options.Shadow, "shadow", false, "answer as if the policies that only inform were enforced, and mark them")
	flags.BoolVar(&options.Ordered, "ordered", false, "show from, and to, as rules: the first that matches applies")
	flags.BoolVar(&options.Explain, "explain", false, "with the item that set each field")
	return c
}

func dataplanePage(p *page, a *inspect.Dataplane) {
	d := &a.Dataplane
	p.heading(0, "Dataplane %s", d.Name)
	p.row("mesh", d.Mesh)
	p.field("namespace", d.Namespace)
	p.field("spiffeId", d.SpiffeID)
	if p.wide {
		p.row("kri", d.KRI)
		p.row("source", d.Source)
	}
	configurationPage(p, &a.Configuration)
}

func configurationPage(p *page, a *inspect.Configuration) {
	p.row("semantics", a.Semantics.String())
	if a.PermissionsNotApplied {
		p.line("warning: every client is allowed, because %s; %s", permission.OpenReason, permission.OpenHint)
	}
	if a.Gateway != nil {
		gatewayRows(p, a.Gateway)
	}
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
		action := ""
		if m.Action != "" {
			action = "only informs: " + causes(m.Action, m.Because)
		}
		p.row(m.Level, p.name(m.Namespace, m.Name, m.KRI), listed(slices.Concat(m.Inbounds, m.Listeners)), m.Source, action)
	}
	if k.Default != nil {
		p.heading(1, "default")
		confRows(p, k.Default)
	}
	for i := range k.To {
		p.heading(1, "to outbounds %s", k.To[i].Selector)
		confRows(p, k.To[i].EffectiveConf)
	}
	for i := range k.Outbounds {
		outboundPage(p, &k.Outbounds[i])
	}
	for i := range k.Inbounds {
		inboundPage(p, &k.Inbounds[i])
	}
	for i := range k.Listeners {
		listenerPage(p, &k.Listeners[i])
	}
}

// gatewayRows shows the listeners of a MeshGateway and their routes.
func gatewayRows(p *page, g *inspect.Gateway) {
	p.heading(0, "Gateway %s", g.KRI)
	for i := range g.Listeners {
		l := &g.Listeners[i]
		p.row(l.Name, l.Protocol, l.Tags.String(), listed(l.Routes))
	}
}

// listenerPage shows the confs of a listener of a gateway or a zone proxy.
func listenerPage(p *page, l *inspect.Listener) {
	if l.To == nil && len(l.Hosts)+len(l.Rules)+len(l.From)+len(l.Permissions) == 0 {
		return
	}
	p.heading(1, "%s", strings.Join(slices.DeleteFunc([]string{"listener", l.Listener.Name, l.Listener.Type, l.Listener.Tags.String()},
		func(word string) bool { return word == "" }), " "))
	if l.NoEffect != "" {
		p.line("no effect: %s", l.NoEffect)
	}
	if l.To != nil {
		confRows(p, l.To)
	}
	for _, host := range l.Hosts {
		p.heading(2, "host %s", host.Hostname)
		confRows(p, host.EffectiveConf)
	}
	ruleRows(p, l.Rules, l.From, l.Permissions)
}

// outboundPage shows the outbound and its routes, without those that no item
// selects.
func outboundPage(p *page, o *inspect.Outbound) {
	outbound := "outbound " + o.Outbound.String()
	if o.EffectiveConf != nil {
		p.heading(1, "%s", outbound)
		confRows(p, o.EffectiveConf)
	}
	for _, r := range o.Routes {
		if r.EffectiveConf != nil {
			p.heading(1, "%s, route %s", outbound, p.name("", r.Name, r.Route))
			confRows(p, r.EffectiveConf)
		}
	}
}

func inboundPage(p *page, i *inspect.Inbound) {
	if len(i.Rules)+len(i.From)+len(i.Permissions) == 0 {
		return
	}
	p.heading(1, "%s", strings.TrimSpace("inbound "+i.Inbound.Name+" "+i.Inbound.Tags.String()))
	ruleRows(p, i.Rules, i.From, i.Permissions)
}

// ruleRows shows the rules of an inbound or a listener.
func ruleRows(p *page, list []inspect.InboundRule, from []inspect.SelectorRule, permissions []inspect.Permission) {
	for _, r := range list {
		p.heading(2, "when %s", inspect.DescribeMatch(&r.Match))
		confRows(p, r.EffectiveConf)
	}
	for _, f := range from {
		p.heading(2, "from %s", inspect.DescribeClients(f.Selector))
		confRows(p, f.EffectiveConf)
	}
	for i := range permissions {
		permissionRows(p, &permissions[i])
	}
}
