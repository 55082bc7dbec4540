package cli

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/why"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/proxied"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
)

func newWhy(g *globals) *cobra.Command {
	var q why.Query
	var t targets
	c := withHelp("why", &cobra.Command{
		Args: func(c *cobra.Command, args []string) error {
			if isPlaced(args) {
				return exactly("KIND", "NAME", "CLUSTER")(c, args)
			}
			if len(args) <= 2 && t.selector == "" || len(args) <= 1 && t.selector != "" {
				return t.args("KIND", "DATAPLANE")(c, args)
			}
			return t.args("KIND", "NAME", "DATAPLANE")(c, args)
		},
		ValidArgsFunction: g.completeWhy,
		RunE: func(c *cobra.Command, args []string) error {
			if isPlaced(args) {
				return g.whyPlaced(c, args[1], args[2])
			}
			return g.why(c, &q, &t, args)
		},
	})
	t.register(c)
	flags := c.Flags()
	flags.StringVar(&q.Outbound, "outbound", "", "only the effect on this outbound: the `NAME` of its service or destination, NAME:PORT, port, or address and port")
	flags.StringVar(&q.Inbound, "inbound", "", "only the effect on this inbound, by `NAME`, by port, or by address and port")
	flags.StringVar(&q.Listener, "listener", "", "only the effect on this listener of a builtin gateway, by port, HOSTNAME:PORT or host name, or of a zone proxy, by `NAME`, port or type")
	g.completeFlag(c, "outbound", partNames(find.OutboundNames))
	g.completeFlag(c, "listener", partNames(find.ListenerNames))
	return c
}

// why answers for each dataplane of the targets.
func (g *globals) why(c *cobra.Command, q *why.Query, t *targets, args []string) error {
	var err error
	if q.Kind, err = find.Kind(g.kinds, args[0]); err != nil {
		return err
	}
	if err := q.Check(); err != nil {
		return err
	}
	w, err := g.loadTargets(c, t, args)
	if err != nil {
		return err
	}
	var policy *resource.Policy
	if len(args) == 3 || len(args) == 2 && t.selector != "" {
		if policy, err = find.Policy(w.view, w.mesh, q.Kind.Name, g.named(args[1])); err != nil {
			return err
		}
	}
	q.Source = g.withSource()
	state := snapshot.NewBuilder(g.translators, snapshot.Options{}).At(w.view)
	return g.printAnswers(c, t, lists.Map(t.list, func(d *resource.Dataplane) answered {
		q.NoEffect = proxied.NoEffectInMesh(state, d)
		return whyAnswer(c, w, d, policy, q)
	}))
}

// whyAnswer answers about a dataplane: about a policy or, if it is nil, about all of the
// kind.
func whyAnswer(c *cobra.Command, w *world, d *resource.Dataplane, policy *resource.Policy, q *why.Query) answered {
	if policy == nil {
		answer, err := why.NewPolicies(c.Context(), w.view, d, q)
		return answerAbout(w, d, answer, err, effectsPage)
	}
	answer, err := why.NewPolicy(c.Context(), w.view, d, policy, q)
	return answerAbout(w, d, answer, err, effectPage)
}

func effectsPage(p *page, a *why.Policies) {
	p.row("semantics", a.Semantics.String())
	if len(a.Policies) == 0 {
		p.line("there are no policies of this kind")
	}
	for i := range a.Policies {
		policy := &a.Policies[i]
		p.row(p.name("", policy.Name, policy.KRI), string(policy.Answer))
	}
}

func effectPage(p *page, a *why.Policy) {
	p.row("answer", string(a.Answer))
	p.row("semantics", a.Semantics.String())
	if a.Answer == why.Informs {
		p.row("action", causes("inform", a.Because))
	}
	p.field("reason", a.Reason)
	if c := a.Condition; c != nil {
		have := "there is none"
		if c.Have != nil {
			have = "here it is " + *c.Have
		}
		p.row("condition", c.Field+" is "+c.Want, have)
	}
	if a.Nearest != nil {
		p.row("it selects", a.Nearest.Dataplane)
	}
	for i := range a.Places {
		placeEffectRows(p, &a.Places[i])
	}
}

func placeEffectRows(p *page, e *why.PlaceEffect) {
	p.heading(1, "%s of %s", e.Item, e.Place.String())
	for _, pointer := range slices.SortedFunc(maps.Keys(e.Fields), inspect.ComparePointers) {
		var value any
		_ = json.Unmarshal(e.Fields[pointer], &value) // it is JSON
		p.row(fieldName(pointer), valueText(value), "holds")
	}
	for _, pointer := range slices.SortedFunc(maps.Keys(e.Collectors), inspect.ComparePointers) {
		p.row("collector", e.Collectors[pointer].String(), "by "+fieldName(pointer))
	}
	for _, pointer := range slices.SortedFunc(maps.Keys(e.Overridden), inspect.ComparePointers) {
		by := e.Overridden[pointer]
		p.row(fieldName(pointer), "", "overridden by "+p.reason(by.KRI, by.Item, by.Source))
	}
	for _, pointer := range slices.SortedFunc(maps.Keys(e.NoEffect), inspect.ComparePointers) {
		p.row(fieldName(pointer), "", "no effect: "+e.NoEffect[pointer])
	}
}
