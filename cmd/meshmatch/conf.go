package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/inspect"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// confQuery is what `conf` is asked for.
type confQuery struct {
	kind     string
	outbound string
	route    string
	inbound  string
	requestFlags
	shadow  bool
	explain bool
}

func newConf(g *globals) *cobra.Command {
	var q confQuery
	c := &cobra.Command{
		Use:   "conf DATAPLANE --kind KIND",
		Short: "Print the one conf that applies to an outbound, a route, a client or a dataplane",
		Long: `Print the one merged conf of a policy kind that applies to an outbound (by
service name or port), to a route of it, to a client or request of an inbound,
or, for kinds without arrays, to the dataplane. Where nothing applies the answer
is empty.`,
		Example: `  meshmatch conf web-1 --kind MeshTimeout --outbound backend -f policies/
  meshmatch conf web-1 --kind MeshTimeout --outbound 10001 --route get-info -f policies/
  meshmatch conf web-1 --kind MeshRateLimit --inbound http --tag kuma.io/service=web -f policies/
  meshmatch conf web-1 --kind MeshTimeout --inbound http --method POST --path /checkout -f policies/
  meshmatch conf web-1 --kind MeshTrace -f policies/ -o yaml`,
		Args: exactly("DATAPLANE"),
		RunE: func(c *cobra.Command, args []string) error {
			if q.kind == "" {
				return usagef("say which policy kind: --kind MeshTimeout")
			}
			if err := q.check(); err != nil {
				return err
			}
			w, err := g.load(c)
			if err != nil {
				return err
			}
			kind, err := kindNamed(w.view, q.kind)
			if err != nil {
				return err
			}
			d, err := g.dataplane(w, args[0])
			if err != nil {
				return err
			}
			effective, err := q.answer(w.view, kind, d)
			if err != nil {
				return err
			}
			answer := inspect.NewC(effective, q.explain || g.output.String() == "table")
			if answer == nil {
				return g.print(c, struct{}{}, func(p *page) { p.line("no item selects it") })
			}
			return g.print(c, answer, func(p *page) { confRows(p, answer) })
		},
	}
	flags := c.Flags()
	flags.StringVar(&q.kind, "kind", "", "the policy kind (required)")
	flags.StringVar(&q.outbound, "outbound", "", "an outbound, by service name or port")
	flags.StringVar(&q.route, "route", "", "a route of the outbound, by name or KRI")
	flags.StringVar(&q.inbound, "inbound", "", "an inbound, by name, or by port where it has none")
	q.register(flags)
	flags.BoolVar(&q.shadow, "shadow", false, "as if the policies that only inform were enforced")
	flags.BoolVar(&q.explain, "explain", false, "the item that set each field")
	return c
}

// check reports flags that do not go together.
func (q *confQuery) check() error {
	switch {
	case q.outbound == "" && q.route != "":
		return usagef("--route belongs to --outbound")
	case q.outbound != "" && q.inbound != "":
		return usagef("give --outbound or --inbound, not both")
	}
	return q.parse()
}

// answer finds the conf; nil where no item selects the thing asked for.
func (q *confQuery) answer(view *core.View, kind *resource.Kind, d *resource.Dataplane) (*rules.Effective, error) {
	configs := view.Configs(d, core.Scope{Kind: kind.Name, Shadow: q.shadow})
	config := &rules.Config{Kind: kind, Outbounds: make([]rules.OutboundConfig, len(d.Outbounds)), Inbounds: make([]rules.InboundConfig, len(d.Inbounds))}
	if len(configs) > 0 {
		config = configs[0]
	}
	switch {
	case q.outbound != "":
		return q.ofOutbound(config, d)
	case q.inbound != "":
		return q.ofInbound(config, d)
	case kind.Default == nil:
		return nil, usagef("say what of %s: --outbound NAME or PORT, or --inbound NAME", d.Name)
	}
	return config.Default, nil
}

func (q *confQuery) ofOutbound(config *rules.Config, d *resource.Dataplane) (*rules.Effective, error) {
	if config.Kind.To == nil {
		return nil, fmt.Errorf("%s has no conf for outbounds", config.Kind.Name)
	}
	i, err := findOutbound(d, q.outbound)
	if err != nil {
		return nil, err
	}
	if q.route != "" {
		return findRoute(&config.Outbounds[i], q.route)
	}
	return config.Outbounds[i].Effective, nil
}

// ofInbound finds what applies to the client, or to the request: the first
// rule that matches it.
func (q *confQuery) ofInbound(config *rules.Config, d *resource.Dataplane) (*rules.Effective, error) {
	kind := config.Kind
	if kind.From == nil && kind.Rules == nil {
		return nil, fmt.Errorf("%s has no conf for inbounds", kind.Name)
	}
	i, err := inboundNamed(d, q.inbound)
	if err != nil {
		return nil, err
	}
	in := &config.Inbounds[i]
	if in.From != nil {
		client := map[string]string{}
		for _, tag := range q.request.Tags {
			client[tag.Key] = tag.Value
		}
		return in.From.Client(client), nil
	}
	if in.Unmerged != nil {
		return nil, fmt.Errorf("the rules of %s are not merged to one conf; use: meshmatch access %s --inbound %s", kind.Name, d.Name, q.inbound)
	}
	protocol := permission.ProtocolOf(&d.Inbounds[i])
	for _, r := range in.Rules {
		if permission.Matches(&r.Match, protocol, &q.request) {
			return r.Effective, nil
		}
	}
	return nil, nil
}

// findOutbound returns the index of an outbound called by service or port.
func findOutbound(d *resource.Dataplane, name string) (int, error) {
	found := -1
	var names []string
	for i := range d.Outbounds {
		o := &d.Outbounds[i]
		service := o.Tags.Value(resource.ServiceTag)
		names = append(names, fmt.Sprintf("%s (%d)", service, o.Port))
		if service != name && strconv.FormatUint(uint64(o.Port), 10) != name {
			continue
		}
		if found >= 0 {
			return 0, fmt.Errorf("%s has several outbounds %q; say which by port: %s", d.Name, name, strings.Join(names, ", "))
		}
		found = i
	}
	if found < 0 {
		return 0, fmt.Errorf("%s has no outbound %q; it has %s", d.Name, name, orNone(names))
	}
	return found, nil
}

func findRoute(config *rules.OutboundConfig, name string) (*rules.Effective, error) {
	var names []string
	for _, r := range config.Routes {
		if r.Route.Name == name || r.Route.KRI() == name {
			return r.Effective, nil
		}
		names = append(names, r.Route.Name)
	}
	return nil, fmt.Errorf("the outbound has no route %q; it has %s", name, orNone(names))
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
