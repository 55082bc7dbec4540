package inspect

import (
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/words"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// ConfQuery asks for the conf of a kind for an outbound, a route of an outbound, a request
// to an inbound, or a listener. If none of these is given, it asks for the conf of the
// dataplane.
type ConfQuery struct {
	Kind     *resource.Kind
	Outbound string // for [find.Outbound]
	Route    string // of the outbound: a name, NAMESPACE/NAME or KRI
	Inbound  string // for [find.Point]
	Listener string // for [find.Listener]
	Hostname string // of routes of the listener of a gateway
	Request  RequestQuery
	Options  // Shadow, Explain and Source
}

// Check returns an error, [find.ErrUsage], if the fields do not go together.
func (q *ConfQuery) Check() error {
	switch {
	case q.Kind == nil:
		return find.Usagef("no policy kind is given; give %s, such as MeshTimeout", find.FieldKind)
	case q.Outbound == "" && q.Route != "":
		return find.Usagef("%s belongs to %s", find.FieldRoute, find.FieldOutbound)
	case q.Outbound != "" && q.Inbound != "":
		return find.Usagef("give %s or %s, not both", find.FieldOutbound, find.FieldInbound)
	case q.Listener != "" && q.Outbound+q.Inbound != "":
		return find.Usagef("give %s, %s or %s, not several", find.FieldOutbound, find.FieldInbound, find.FieldListener)
	case q.Listener == "" && q.Hostname != "":
		return find.Usagef("%s belongs to %s", find.FieldHostname, find.FieldListener)
	case q.Inbound+q.Listener == "" && q.Request.Given():
		return find.Usagef("a client or request belongs to %s", find.FieldInbound)
	case q.Hostname != "" && !q.Kind.IsRoute():
		return find.Usagef("%s belongs to kinds of routes, and %s is none", find.FieldHostname, q.Kind.Name)
	}
	_, err := q.Request.Parse()
	return err
}

// Conf is the answer of `conf` (SPEC 10).
type Conf struct {
	Semantics      semantics.Semantics `json:"semantics"` // the semantics of the answer (SPEC 17.1)
	*EffectiveConf                     // nil if no item selects the place of the query
}

// NewConf answers the query for a dataplane of the view. The errors are [find.ErrUsage] and
// [find.ErrNotFound].
func NewConf(view *core.View, d *resource.Dataplane, q *ConfQuery) (*Conf, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	config, err := view.Config(d, q.Kind.Name, ScopeOf(q.Shadow))
	if err != nil {
		return nil, err
	}
	effective, section, err := q.answer(view, config, d)
	if err != nil {
		return nil, err
	}
	options := q.Options
	options.SetView(view, d.Mesh)
	return &Conf{options.Semantics, NewEffectiveConf(effective, section, options)}, nil
}

// answer returns the conf and its section of the kind.
func (q *ConfQuery) answer(view *core.View, config *results.Config, d *resource.Dataplane) (*results.Effective, *resource.Section, error) {
	switch {
	case q.Outbound != "":
		effective, err := q.ofOutbound(view, config, d)
		return effective, q.Kind.To, err
	case q.Inbound != "":
		point, err := find.Point(view, d, q.Inbound)
		if err != nil {
			return nil, nil, err
		}
		return q.ofPoint(view, config, d, point)
	case q.Listener != "":
		return q.ofListener(view, config, d)
	case q.Kind.Default == nil:
		return nil, nil, noPart(view, d, q.Kind)
	}
	return config.Default, q.Kind.Default, nil
}

// noPart is the error for a question about a whole dataplane, if the kind has confs
// only for outbounds or inbounds.
func noPart(view *core.View, d *resource.Dataplane, kind *resource.Kind) error {
	listeners := find.ListenerNames(view, d)
	switch {
	case len(listeners) > 0:
		return find.Usagef("no part of %s is given; give %s, one of %s", d.Name, find.FieldListener, strings.Join(listeners, ", "))
	case kind.From == nil && kind.Rules == nil:
		return find.Usagef("no part of %s is given; give %s", d.Name, find.FieldOutbound)
	case kind.To == nil:
		return find.Usagef("no part of %s is given; give %s", d.Name, find.FieldInbound)
	}
	return find.Usagef("no part of %s is given; give %s or %s", d.Name, find.FieldOutbound, find.FieldInbound)
}

func (q *ConfQuery) ofOutbound(view *core.View, config *results.Config, d *resource.Dataplane) (*results.Effective, error) {
	if config.Kind.To == nil {
		return nil, find.NotFoundf("%s has no conf for outbounds", config.Kind.Name)
	}
	i, err := find.Outbound(view, d, q.Outbound)
	if err != nil {
		return nil, err
	}
	_, confs := OutboundAt(view, config, d, ScopeOf(q.Shadow), i)
	if q.Route != "" {
		return findRoute(view, confs, q.Route)
	}
	return confs.Effective, nil
}

// ofPoint answers for a request to an inbound or a listener, given by its index for
// [find.Point].
func (q *ConfQuery) ofPoint(view *core.View, config *results.Config, d *resource.Dataplane, point int) (*results.Effective, *resource.Section, error) {
	kind := config.Kind
	if kind.From == nil && kind.Rules == nil {
		return nil, nil, find.NotFoundf("%s has no conf for inbounds", kind.Name)
	}
	in := new(results.InboundConfig)
	if point < len(d.Inbounds) {
		in = config.Inbounds[point]
	} else if list := view.ListenerConfigs(d, kind.Name, ScopeOf(q.Shadow)); list != nil {
		in = list[point-len(d.Inbounds)].Inbound
	}
	if in.Unmerged != nil {
		return nil, nil, find.NotFoundf("the rules of %s are not merged to one conf; access answers for a request", kind.Name)
	}
	r, err := q.Request.Parse()
	if err != nil {
		return nil, nil, err
	}
	effective, section := confForRequest(kind, in, PointProtocol(view, d, point), r)
	return effective, section, nil
}

// PointProtocol returns the protocol of an inbound or a listener, given by its index for
// [find.Point]. An egress has external services of every protocol, so it is HTTP.
func PointProtocol(view *core.View, d *resource.Dataplane, point int) request.Protocol {
	if point < len(d.Inbounds) {
		return request.ProtocolOf(d, point)
	}
	point -= len(d.Inbounds)
	if listeners := d.GatewayListeners(); len(listeners) > 0 {
		if p := listeners[point].Protocol; p == "HTTP" || p == "HTTPS" {
			return request.HTTP
		}
		return request.TCP
	}
	if view.Semantics().ZoneListeners(d)[point].Egress {
		return request.HTTP
	}
	return request.TCP
}

// ofListener answers for the requests that a listener of a builtin gateway receives, or for
// a request to a listener of a zone proxy.
func (q *ConfQuery) ofListener(view *core.View, config *results.Config, d *resource.Dataplane) (*results.Effective, *resource.Section, error) {
	i, err := find.Listener(view, d, q.Listener)
	if err != nil {
		return nil, nil, err
	}
	if len(d.GatewayListeners()) == 0 || q.Request.Given() {
		return q.ofPoint(view, config, d, len(d.Inbounds)+i)
	}
	section := ListenerSection(q.Kind)
	configs := view.ListenerConfigs(d, q.Kind.Name, ScopeOf(q.Shadow))
	if section == nil || configs == nil {
		return nil, nil, find.NotFoundf("%s has no conf for listeners", q.Kind.Name)
	}
	if !q.Kind.IsRoute() {
		return configs[i].To, section, nil
	}
	var names []string
	for _, host := range configs[i].Hosts {
		if host.Hostname == q.Hostname || q.Hostname == "" && len(configs[i].Hosts) == 1 {
			return host.Effective, section, nil
		}
		names = append(names, host.Hostname)
	}
	switch {
	case q.Hostname == "" && len(names) == 0:
		return nil, section, nil
	case q.Hostname == "":
		return nil, nil, find.Usagef("the listener has routes for several host names; give %s, one of %s", find.FieldHostname, strings.Join(names, ", "))
	}
	return nil, nil, find.NotFoundf("the listener has no routes for the host name %q; it has %s", q.Hostname, words.OrNone(names))
}

func findRoute(view *core.View, config *results.OutboundConfig, name string) (*results.Effective, error) {
	var found *results.Effective
	var all, matching []string
	for _, r := range config.Routes {
		qualified, kri := r.Route.Qualified(), view.Semantics().KRI(r.Route.KRI(), &r.Route.Meta)
		all = append(all, qualified)
		if slices.Contains([]string{r.Route.Name, view.Semantics().ReferenceName(&r.Route.Meta), qualified, r.Route.KRI(), kri}, name) {
			found, matching = r.Effective, append(matching, kri)
		}
	}
	switch len(matching) {
	case 0:
		return nil, find.NotFoundf("the outbound has no route %q; it has %s", name, words.OrNone(all))
	case 1:
		return found, nil
	}
	return nil, find.NotFoundf("the outbound has several routes %q; give the KRI of one: %s", name, strings.Join(matching, ", "))
}

// confForRequest returns the conf of a kind for a request to an inbound, and the conf's
// section of the kind. If `from` applies, the conf is for the client's tags; otherwise the
// first matching rule has it. The conf is nil if no item selects the request.
func confForRequest(kind *resource.Kind, in *results.InboundConfig, protocol request.Protocol, r *request.Request) (*results.Effective, *resource.Section) {
	if in.From != nil {
		client := make(map[string]string, len(r.Tags))
		for _, tag := range r.Tags {
			client[tag.Key] = tag.Value
		}
		return in.From.Client(client), kind.From
	}
	for _, rule := range in.Rules {
		if request.Matches(&rule.Match, protocol, r, scopeOf(kind)) {
			return rule.Effective, kind.Rules
		}
	}
	return nil, kind.Rules
}

// scopeOf returns which part of a header's value must meet the conditions of a kind's
// rules. A second header line must not evade a rule that limits, fails or logs requests
// (SPEC 7.2).
func scopeOf(kind *resource.Kind) request.ValueScope {
	switch kind.Name {
	case "MeshRateLimit", "MeshFaultInjection", "MeshAccessLog":
		return request.Denial
	}
	return request.Whole
}
