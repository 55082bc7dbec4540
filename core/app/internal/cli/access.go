package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
)

// accessQuery is the flags of `access`.
type accessQuery struct {
	inbound string
	port    uint16
	filter  bool
	form    choice
	request inspect.RequestQuery
	from    string   // a SPIFFE ID, a dataplane or a service: the client
	ids     []string // of the client of from, if it has several
	explain bool
	why     bool
}

func newAccess(g *globals) *cobra.Command {
	q := accessQuery{form: choice{"matcher", filterForms}}
	var t targets
	c := withHelp("access", &cobra.Command{
		Args:              t.args("DATAPLANE"),
		ValidArgsFunction: g.completeNames(targetNames),
		RunE:              func(c *cobra.Command, args []string) error { return q.run(g, c, &t, args) },
	})
	t.register(c)
	q.register(c.Flags())
	return c
}

func (q *accessQuery) register(flags *pflag.FlagSet) {
	flags.StringVar(&q.inbound, "inbound", "", "the inbound, by `NAME`, by port, or by address and port; not needed if there is one")
	flags.Uint16Var(&q.port, "port", 0, "instead of --inbound, the port `N` that the client connects to: the port of an inbound or, with transparent proxying, any port of the workload")
	registerRequest(flags, &q.request)
	flags.StringVar(&q.from, "from", "", "the client: a SPIFFE ID, or a `DATAPLANE` or svc/SERVICE, which gives its identity and its tags")
	flags.BoolVar(&q.why, "why", false, "how each entry compares with the request")
	flags.BoolVar(&q.explain, "explain", false, "print the reason, and the entry that nearly allows a denied request")
	flags.BoolVar(&q.filter, "filter", false, "print the inbound's Envoy RBAC filter")
	flags.Var(&q.form, "form", "the `FORM` of the filter: matcher, or rules, the only form that gRPC reads")
}

// check reports flags that are missing or cannot be combined.
func (q *accessQuery) check(c *cobra.Command) error {
	switch {
	case q.inbound != "" && q.port != 0:
		return usagef("--inbound and --port exclude each other; give one of them")
	case q.from != "" && (q.request.SpiffeID != "" || len(q.request.Tags) > 0):
		return usagef("--from is the client; give it or --spiffe-id and --tag, not both")
	case q.filter && (q.request.Given() || q.from != "" || q.why):
		return usagef("a filter decides all requests; give --filter or a request, not both")
	case !q.filter && c.Flags().Changed("form"):
		return usagef("--form belongs to --filter")
	}
	return nil
}

func (q *accessQuery) run(g *globals, c *cobra.Command, t *targets, args []string) error {
	if err := q.check(c); err != nil {
		return err
	}
	w, err := g.loadTargets(c, t, args)
	if err != nil {
		return err
	}
	if err := g.client(w, q); err != nil {
		return err
	}
	request, err := q.request.Parse()
	if err != nil {
		return err
	}
	if q.filter {
		return g.printFilter(c, w, t, q)
	}
	a := accessAnswers{g: g, world: w, query: q, request: request, state: snapshot.NewBuilder(g.translators, snapshot.Options{}).At(w.view)}
	answers := lists.Map(t.list, func(d *resource.Dataplane) []answered { return a.answersFor(d, t.service) })
	return g.printAnswers(c, t, slices.Concat(answers...))
}

// client sets the client of the request to the client of --from.
func (g *globals) client(w *world, q *accessQuery) error {
	if q.from == "" {
		return nil
	}
	client, ids, err := find.Client(w.view, w.mesh, g.named(q.from))
	if err != nil {
		return err
	}
	q.request.SpiffeID, q.ids = client.SpiffeID, ids
	for _, tag := range client.Tags {
		q.request.Tags = append(q.request.Tags, tag.Key+"="+tag.Value)
	}
	return nil
}

// find returns the inbounds of the question, and the dataplane that has them; none if no
// inbound declares its port. With a service they are of this service; nil: none is given.
func (q *accessQuery) find(view *core.View, d *resource.Dataplane, service *find.Service) (*resource.Dataplane, []int, error) {
	if q.port != 0 {
		i, declared, err := find.Port(d, uint32(q.port))
		if err != nil || !declared {
			return d, nil, err
		}
		return d, []int{i}, nil
	}
	if service != nil {
		inbounds, err := service.Named(d, q.inbound)
		return d, inbounds, err
	}
	d, i, err := inspect.AccessPoint(view, d, q.inbound)
	return d, []int{i}, err
}

// accessAnswers answers one question for several dataplanes.
type accessAnswers struct {
	g       *globals
	world   *world
	query   *accessQuery
	request *request.Request
	state   *snapshot.State
}

// answersFor returns the answer for each inbound of the question.
func (a *accessAnswers) answersFor(d *resource.Dataplane, service *find.Service) (answers []answered) {
	add := func(answer *inspect.Access, err error) {
		next := answerAbout(a.world, d, answer, err, accessPage)
		if err == nil && answer.Allowed() {
			answer.Warnings = append(answer.Warnings, a.g.unreadDecisions(oneRequest)...)
		}
		next.no = err == nil && !answer.Allowed()
		answers = append(answers, next)
	}
	q := a.query
	options := inspect.Options{Explain: q.explain || a.g.isTable(), Why: q.why, Source: a.g.withSource()}
	at, inbounds, err := q.find(a.world.view, d, service)
	switch {
	case err != nil:
		add(nil, err)
		return answers
	case len(inbounds) == 0:
		add(inspect.NewUndeclaredAccess(a.world.view, d, options))
	}
	for _, i := range inbounds {
		answer := a.decide(at, i, options)
		answer.Warnings = append(answer.Warnings, q.request.Warnings()...)
		answer.Warnings = append(answer.Warnings, a.state.Weakened(d)...)
		add(answer, nil)
	}
	return answers
}

// decide returns the answer about an inbound. An entry matches a client with several SPIFFE IDs if
// it matches one of them (SPEC 17.1): one that denies decides before one that allows.
func (a *accessAnswers) decide(d *resource.Dataplane, inbound int, options inspect.Options) *inspect.Access {
	answer := inspect.NewAccess(a.world.view, d, inbound, a.request, options)
	rank := func(answer *inspect.Access) int {
		switch {
		case answer.Allowed():
			return 1
		case answer.By.Default:
			return 0
		}
		return 2
	}
	for _, id := range a.query.ids {
		one := *a.request
		one.SpiffeID = id
		if next := inspect.NewAccess(a.world.view, d, inbound, &one, options); rank(next) > rank(answer) {
			answer = next
		}
	}
	return answer
}

func accessPage(p *page, a *inspect.Access) {
	p.row("semantics", a.Semantics.String())
	p.row("decision", decisionText(p, &a.Decision))
	if a.Shadow != nil {
		p.row("shadow", decisionText(p, a.Shadow))
	}
	if a.By.Default {
		p.row("reason", a.Reason)
		if near := a.Nearest; near != nil {
			p.row("nearest", p.reason(near.KRI, near.Item, near.Source))
			for _, failure := range near.Failed {
				p.row("", failure.String())
			}
		}
	}
	if len(a.Why) > 0 {
		p.heading(0, "entries")
	}
	for i := range a.Why {
		why := &a.Why[i]
		result := "matches"
		if c := why.Condition; c != nil {
			have := "none"
			if c.Have != nil {
				have = *c.Have
			}
			result = fmt.Sprintf("%s: want %s, the request has %s", c.Field, c.Want, have)
		}
		p.row(p.reason(why.KRI, why.Item, why.Source), result)
	}
	doubtLines(p, a.Warnings)
}

// doubtLines prints what makes an answer doubtful.
func doubtLines(p *page, warnings []diag.Diagnostic) {
	for i := range warnings {
		p.line("warning: %s", warnings[i].Error())
	}
}

// decisionText returns the decision and what decides.
func decisionText(p *page, d *inspect.Decision) string {
	by := "by default"
	if !d.By.Default {
		by = p.reason(d.By.KRI, d.By.Item, d.By.Source)
	}
	return fmt.Sprintf("%-5s  %s", d.Decision, by)
}
