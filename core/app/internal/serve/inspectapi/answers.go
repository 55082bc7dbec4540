package inspectapi

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/diff"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/placement"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/proxied"
	"github.com/meshmatch/meshmatch/core/resource"
)

// incomplete has the reasons why an answer is not complete (SPEC 5.5).
type incomplete struct {
	Incomplete []string `json:"incomplete,omitempty"`
}

func reasons(err error) incomplete {
	if err == nil {
		return incomplete{}
	}
	return incomplete{strings.Split(err.Error(), "\n")}
}

func meshes(q *question) (any, error) {
	if p := newParameters(q.URL.RawQuery); p.err != nil {
		return nil, p.err
	}
	return struct {
		Meshes []string `json:"meshes"`
	}{append([]string{}, q.View.Meshes()...)}, nil
}

// proxyRulesAnswer is an answer about a dataplane that may be incomplete.
type proxyRulesAnswer struct {
	*inspect.ProxyRules
	incomplete
}

// aboutRules is a question about the rules of a dataplane, with further parameters.
func aboutRules(answer func(*question, *resource.Dataplane, inspect.Options) (any, error), further ...string) func(*question) (any, error) {
	return func(q *question) (any, error) {
		p := q.parameters(append([]string{"kind", "shadow", "source", "ordered"}, further...)...)
		options := p.options(q.View.Kinds())
		d, err := q.dataplane(p)
		if err != nil {
			return nil, err
		}
		return answer(q, d, options)
	}
}

func proxyPolicies(q *question, d *resource.Dataplane, options inspect.Options) (any, error) {
	return inspect.NewProxyPolicies(q.View, d, options), nil
}

func proxyRules(q *question, d *resource.Dataplane, options inspect.Options) (any, error) {
	answer, err := inspect.NewProxyRules(q.View, d, options)
	return proxyRulesAnswer{answer, reasons(err)}, nil
}

func inboundPolicies(q *question, d *resource.Dataplane, options inspect.Options) (any, error) {
	i, err := find.Point(q.View, d, q.PathValue("inbound"))
	if err != nil {
		return nil, err
	}
	answer, err := inspect.NewInboundPolicies(q.View, d, i, options)
	return proxyRulesAnswer{answer, reasons(err)}, nil
}

func outboundPolicies(q *question, d *resource.Dataplane, options inspect.Options) (any, error) {
	i, err := find.Outbound(q.View, d, q.PathValue("outbound"))
	if err != nil {
		return nil, err
	}
	return inspect.NewOutboundPolicies(q.View, d, i, options), nil
}

func inspectDataplane(q *question, d *resource.Dataplane, options inspect.Options) (any, error) {
	return inspected(q.State, d, options), nil
}

func inspected(state *proxied.State, d *resource.Dataplane, options inspect.Options) any {
	if options.Explain {
		options.NoEffect = proxied.NoEffect(state.Snapshots, d)
	}
	answer, err := inspect.NewDataplane(state.View, d, options)
	return struct {
		*inspect.Dataplane
		incomplete
	}{answer, reasons(err)}
}

// Inspect returns the answer of _inspect for a dataplane, with the parameters of a query.
func Inspect(state *proxied.State, d *resource.Dataplane, query url.Values) (any, error) {
	p := newParameters(query.Encode(), "kind", "shadow", "source", "ordered", "explain", "namespace")
	options := p.options(state.View.Kinds())
	if p.err != nil {
		return nil, p.err
	}
	return inspected(state, d, options), nil
}

func access(q *question) (any, error) {
	p := q.parameters(append(requestParameters, "inbound", "port", "explain", "source")...)
	asked := p.accessQuery()
	d, err := q.dataplane(p)
	if err != nil {
		return nil, err
	}
	return asked.answer(q.State, d)
}

// Access returns the answer of _access for a dataplane. The query has the parameters of
// _access and why, which asks for the comparison with each entry.
func Access(state *proxied.State, d *resource.Dataplane, query url.Values) (*inspect.Access, error) {
	p := newParameters(query.Encode(), append(slices.Clone(requestParameters), "inbound", "port", "explain", "why", "source", "namespace")...)
	asked := p.accessQuery()
	asked.options.Why = p.flag("why")
	if p.err != nil {
		return nil, p.err
	}
	return asked.answer(state, d)
}

// accessQuery is a request to an inbound or to a port.
type accessQuery struct {
	inbound string
	port    uint32
	request inspect.RequestQuery
	options inspect.Options
}

func (p *parameters) accessQuery() accessQuery {
	return accessQuery{p.text("inbound"), p.port("port"), p.request(), inspect.Options{Explain: p.flag("explain"), Source: p.flag("source")}}
}

func (a *accessQuery) answer(state *proxied.State, d *resource.Dataplane) (*inspect.Access, error) {
	if a.inbound != "" && a.port != 0 {
		return nil, errors.New("the parameters \"inbound\" and \"port\" exclude each other; use ?inbound=NAME or ?port=N")
	}
	request, err := a.request.Parse()
	if err != nil {
		return nil, err
	}
	at, i, declared := d, 0, true
	if a.port != 0 {
		i, declared, err = find.Port(d, a.port)
	} else {
		at, i, err = inspect.AccessPoint(state.View, d, a.inbound)
	}
	if err != nil {
		return nil, err
	}
	if !declared {
		return inspect.NewUndeclaredAccess(state.View, d, a.options)
	}
	answer := inspect.NewAccess(state.View, at, i, request, a.options)
	answer.Warnings = append(answer.Warnings, a.request.Warnings()...)
	answer.Warnings = append(answer.Warnings, state.Snapshots.Weakened(d)...)
	return answer, nil
}

func conf(q *question) (any, error) {
	p := q.parameters(append(requestParameters, "kind", "outbound", "route", "inbound", "listener", "hostname", "shadow", "explain", "source")...)
	query := inspect.ConfQuery{
		Kind: p.kind(q.View.Kinds()), Outbound: p.text("outbound"), Route: p.text("route"), Inbound: p.text("inbound"),
		Listener: p.text("listener"), Hostname: p.text("hostname"), Request: p.request(),
		Options: inspect.Options{Shadow: p.flag("shadow"), Explain: p.flag("explain"), Source: p.flag("source")},
	}
	d, err := q.dataplane(p)
	if err != nil {
		return nil, err
	}
	return inspect.NewConf(q.View, d, &query)
}

func policyDataplanes(q *question) (any, error) {
	p := q.parameters("source")
	source, name := p.flag("source"), q.name(p)
	if p.err != nil {
		return nil, p.err
	}
	kind, err := q.kind()
	if err != nil {
		return nil, err
	}
	policy, err := find.Policy(q.View, q.mesh, kind.Name, name)
	if err != nil {
		return nil, err
	}
	return inspect.NewPolicy(q.View, policy, source)
}

// meshDiff returns what would change if shadow policies were enforced.
func meshDiff(q *question) (any, error) {
	p := q.parameters("shadow", "kind", "policy", "source")
	options, policy := p.options(q.View.Kinds()), p.text("policy")
	switch {
	case p.err != nil:
		return nil, p.err
	case !options.Shadow:
		return nil, errors.New("give ?shadow: the answer is what would change if shadow policies were enforced")
	}
	answer, err := q.diff(policy, options)
	if answer == nil {
		return nil, err
	}
	return struct {
		*diff.Diff
		incomplete
	}{answer, reasons(err)}, nil
}

func (q *question) diff(policy string, options inspect.Options) (*diff.Diff, error) {
	compared := &proxied.Comparison{Before: proxied.Side{View: q.View}, After: proxied.Side{View: q.View, Scope: core.Shadow}, Mesh: q.mesh}
	if policy == "" {
		return compared.Diff(q.Context(), options, q.translators)
	}
	kindName, name, qualified := strings.Cut(policy, "/")
	if !qualified {
		return nil, errors.New("policy must be KIND/NAME or KIND/NAMESPACE/NAME")
	}
	kind, err := find.Kind(q.View.Kinds(), kindName)
	if err != nil {
		return nil, err
	}
	found, err := find.Policy(q.View, q.mesh, kind.Name, find.Name{Name: name})
	if err != nil {
		return nil, err
	}
	if q.Set == nil {
		return nil, errors.New("the parameter policy needs the resources that the view was made from; apply the enforced policy to an engine, and read its changes")
	}
	view, err := diff.WithEnforced(q.Context(), q.View, q.Set, found)
	if err != nil {
		return nil, err
	}
	compared.After = proxied.Side{View: view}
	return compared.Diff(q.Context(), options, q.translators)
}

// clusterPlacement answers about OCM policies, which have no mesh: all of them, those with a name, or
// why one acts on a cluster.
func clusterPlacement(q *question) (any, error) {
	p := q.parameters("policy", "cluster")
	name := find.Name{Name: p.text("policy"), Namespace: q.name(p).Namespace}
	cluster := p.text("cluster")
	answer := placement.New(q.View, "")
	switch {
	case p.err != nil:
		return nil, p.err
	case cluster != "" && name.Name == "":
		return nil, errors.New("a cluster needs a policy; use ?policy=NAME&cluster=CLUSTER")
	case cluster != "":
		return placement.NewWhy(q.View, name, cluster)
	case name.Name != "":
		return answer.Named(name)
	}
	return answer, nil
}

func meshPlacement(q *question) (any, error) {
	p := q.parameters("policy")
	name := find.Name{Name: p.text("policy"), Namespace: q.name(p).Namespace}
	if p.err != nil {
		return nil, p.err
	}
	answer := placement.New(q.View, q.mesh)
	if name.Name == "" {
		return answer, nil
	}
	return answer.Named(name)
}

// meshVariants returns the variants of the confs of a kind for the outbounds to a service, and how many
// dataplanes each of them serves.
func (a *api) meshVariants(q *question) (any, error) {
	p := q.parameters("kind", "outbound")
	kindName, outbound := p.text("kind"), p.text("outbound")
	switch {
	case p.err != nil:
		return nil, p.err
	case kindName == "" || outbound == "":
		return nil, errors.New("give a kind and an outbound, such as ?kind=MeshTimeout&outbound=backend")
	}
	kind, err := find.Kind(q.View.Kinds(), kindName)
	if err != nil {
		return nil, err
	}
	return a.variants.Ask(q.View, q.mesh, kind, outbound)
}
