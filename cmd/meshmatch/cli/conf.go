package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/inspect"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// confQuery is the flags of `conf`.
type confQuery struct {
	kind     kindFlag
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
or, for kinds without arrays, to the dataplane. If nothing applies the answer is
empty.`,
		Example: `  meshmatch conf web-1 --kind MeshTimeout --outbound backend -f policies/
  meshmatch conf web-1 --kind MeshTimeout --outbound 10002 --route payments-info -f policies/
  meshmatch conf web-1 --kind MeshRateLimit --inbound http --tag kuma.io/service=web -f policies/
  meshmatch conf web-1 --kind MeshTimeout --inbound http --method POST --path /checkout -f policies/
  meshmatch conf web-1 --kind MeshTrace -f policies/ -o yaml`,
		Args:              exactly("DATAPLANE"),
		ValidArgsFunction: g.completeNames(dataplaneNames),
		RunE: func(c *cobra.Command, args []string) error {
			if q.kind.kind == nil {
				return usagef("no policy kind is given; use --kind KIND, such as --kind MeshTimeout")
			}
			if err := q.check(); err != nil {
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
			effective, section, err := q.answer(w.view, q.kind.kind, d)
			if err != nil {
				return err
			}
			answer := inspect.NewEffectiveConf(effective, section, inspect.Options{Explain: q.explain || g.isTable(), Source: g.withSource()})
			if answer == nil {
				return g.print(c, struct{}{}, func(p *page) { p.line("no item selects it") })
			}
			return g.print(c, answer, func(p *page) { confRows(p, answer) })
		},
	}
	flags := c.Flags()
	q.kind.register(flags, g.kinds, "the policy `KIND` (required)")
	flags.StringVar(&q.outbound, "outbound", "", "an outbound, by the `NAME` of its service, by port, or by address and port")
	flags.StringVar(&q.route, "route", "", "a route of the outbound, by `NAME` or KRI")
	flags.StringVar(&q.inbound, "inbound", "", "an inbound, by `NAME` (by port if it has none), or by address and port")
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
	case q.inbound == "" && q.given():
		return usagef("a client or request belongs to --inbound")
	}
	return q.parse()
}

// answer returns the conf and the section of the kind that it is of; a nil conf
// if no item selects what the flags give.
func (q *confQuery) answer(view *core.View, kind *resource.Kind, d *resource.Dataplane) (*rules.Effective, *resource.Section, error) {
	config := view.Config(d, kind.Name, inspect.ScopeOf(q.shadow))
	switch {
	case q.outbound != "":
		effective, err := q.ofOutbound(config, d)
		return effective, kind.To, err
	case q.inbound != "":
		return q.ofInbound(config, d)
	case kind.Default == nil:
		return nil, nil, usagef("no part of %s is given; use %s", d.Name, placesOf(kind))
	}
	return config.Default, kind.Default, nil
}

// placesOf names the flags that give a part of a dataplane for which a kind has
// confs.
func placesOf(kind *resource.Kind) string {
	var flags []string
	if kind.To != nil {
		flags = append(flags, "--outbound NAME or PORT")
	}
	if kind.From != nil || kind.Rules != nil {
		flags = append(flags, "--inbound NAME")
	}
	return strings.Join(flags, ", or ")
}

func (q *confQuery) ofOutbound(config *rules.Config, d *resource.Dataplane) (*rules.Effective, error) {
	if config.Kind.To == nil {
		return nil, fmt.Errorf("%s has no conf for outbounds", config.Kind.Name)
	}
	i, err := outboundNamed(d, q.outbound)
	if err != nil {
		return nil, err
	}
	if q.route != "" {
		return findRoute(&config.Outbounds[i], q.route)
	}
	return config.Outbounds[i].Effective, nil
}

func (q *confQuery) ofInbound(config *rules.Config, d *resource.Dataplane) (*rules.Effective, *resource.Section, error) {
	kind := config.Kind
	if kind.From == nil && kind.Rules == nil {
		return nil, nil, fmt.Errorf("%s has no conf for inbounds", kind.Name)
	}
	i, err := inboundNamed(d, q.inbound)
	if err != nil {
		return nil, nil, err
	}
	if config.Inbounds[i].Unmerged != nil {
		return nil, nil, fmt.Errorf("the rules of %s are not merged to one conf; use: meshmatch access %s --inbound %s", kind.Name, d.Name, q.inbound)
	}
	effective, section := inspect.ForRequest(config, d, i, &q.request)
	return effective, section, nil
}

func findRoute(config *rules.OutboundConfig, name string) (*rules.Effective, error) {
	var found *rules.Effective
	var all, matching []string
	for _, r := range config.Routes {
		all = append(all, r.Route.Name)
		if r.Route.Name == name || inspect.QualifiedName(&r.Route.Meta) == name || r.Route.KRI() == name {
			found, matching = r.Effective, append(matching, r.Route.KRI())
		}
	}
	switch len(matching) {
	case 0:
		return nil, fmt.Errorf("the outbound has no route %q; it has %s", name, orNone(all))
	case 1:
		return found, nil
	}
	return nil, fmt.Errorf("the outbound has several routes %q; give the KRI of one: %s", name, strings.Join(matching, ", "))
}
