package inspect

import (
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/request"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
	"github.com/meshmatch/meshmatch/core/semantics"
)

// ConfQuery asks for the conf of a kind that applies to an outbound, to a route of an
// outbound, to a request to an inbound or, if none of these is given, to a dataplane.
type ConfQuery struct {
	Kind     *resource.Kind
	Outbound string // for [FindOutbound]
	Route    string // of the outbound: a name, NAMESPACE/NAME or KRI
	Inbound  string // for [FindInbound]
	Request  RequestQuery
	Options  // Shadow, Explain and Source
}

// Check returns an error, [ErrUsage], if the fields do not go together.
func (q *ConfQuery) Check() error {
	switch {
	case q.Kind == nil:
		return usagef("no policy kind is given; give %s, such as MeshTimeout", FieldKind)
	case q.Outbound == "" && q.Route != "":
		return usagef("%s belongs to %s", FieldRoute, FieldOutbound)
	case q.Outbound != "" && q.Inbound != "":
		return usagef("give %s or %s, not both", FieldOutbound, FieldInbound)
	case q.Inbound == "" && q.Request.Given():
		return usagef("a client or request belongs to %s", FieldInbound)
	}
	_, err := q.Request.Parse()
	return err
}

// Conf is the answer of `conf` (SPEC 10).
type Conf struct {
	Semantics      semantics.Semantics `json:"semantics"` // the semantics of the answer (SPEC 17.1)
	*EffectiveConf                     // nil if no item selects the place of the query
}

// NewConf answers the query for a dataplane of the view. The errors are [ErrUsage] and [ErrNotFound].
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
	options.Semantics = view.Semantics()
	return &Conf{options.Semantics, NewEffectiveConf(effective, section, options)}, nil
}

// answer returns the conf and its section of the kind.
func (q *ConfQuery) answer(view *core.View, config *rules.Config, d *resource.Dataplane) (*rules.Effective, *resource.Section, error) {
	switch {
	case q.Outbound != "":
		effective, err := q.ofOutbound(view, config, d)
		return effective, q.Kind.To, err
	case q.Inbound != "":
		return q.ofInbound(config, d)
	case q.Kind.Default == nil:
		return nil, nil, noPart(d, q.Kind)
	}
	return config.Default, q.Kind.Default, nil
}

// noPart is the error for a question about a whole dataplane, if the kind has confs
// only for outbounds or inbounds.
func noPart(d *resource.Dataplane, kind *resource.Kind) error {
	switch {
	case kind.From == nil && kind.Rules == nil:
		return usagef("no part of %s is given; give %s", d.Name, FieldOutbound)
	case kind.To == nil:
		return usagef("no part of %s is given; give %s", d.Name, FieldInbound)
	}
	return usagef("no part of %s is given; give %s or %s", d.Name, FieldOutbound, FieldInbound)
}

func (q *ConfQuery) ofOutbound(view *core.View, config *rules.Config, d *resource.Dataplane) (*rules.Effective, error) {
	if config.Kind.To == nil {
		return nil, notFoundf("%s has no conf for outbounds", config.Kind.Name)
	}
	i, err := FindOutbound(view, d, q.Outbound)
	if err != nil {
		return nil, err
	}
	_, confs := outboundAt(view, config, d, ScopeOf(q.Shadow), i)
	if q.Route != "" {
		return findRoute(view, confs, q.Route)
	}
	return confs.Effective, nil
}

func (q *ConfQuery) ofInbound(config *rules.Config, d *resource.Dataplane) (*rules.Effective, *resource.Section, error) {
	kind := config.Kind
	if kind.From == nil && kind.Rules == nil {
		return nil, nil, notFoundf("%s has no conf for inbounds", kind.Name)
	}
	i, err := FindInbound(d, q.Inbound)
	if err != nil {
		return nil, nil, err
	}
	if config.Inbounds[i].Unmerged != nil {
		return nil, nil, notFoundf("the rules of %s are not merged to one conf; access answers for a request", kind.Name)
	}
	r, err := q.Request.Parse()
	if err != nil {
		return nil, nil, err
	}
	effective, section := confForRequest(config, d, i, r)
	return effective, section, nil
}

func findRoute(view *core.View, config *rules.OutboundConfig, name string) (*rules.Effective, error) {
	var found *rules.Effective
	var all, matching []string
	for _, r := range config.Routes {
		qualified, kri := qualifiedName(&r.Route.Meta), view.Semantics().KRI(r.Route.KRI(), &r.Route.Meta)
		all = append(all, qualified)
		if slices.Contains([]string{r.Route.Name, view.Semantics().ReferenceName(&r.Route.Meta), qualified, r.Route.KRI(), kri}, name) {
			found, matching = r.Effective, append(matching, kri)
		}
	}
	switch len(matching) {
	case 0:
		return nil, notFoundf("the outbound has no route %q; it has %s", name, orNone(all))
	case 1:
		return found, nil
	}
	return nil, notFoundf("the outbound has several routes %q; give the KRI of one: %s", name, strings.Join(matching, ", "))
}

// confForRequest returns the conf of a kind for a request to an inbound, given by
// its index, and the conf's section of the kind. If `from` applies, the conf is
// for the client's tags; otherwise the first matching rule has it. The conf is
// nil if no item selects the request.
func confForRequest(config *rules.Config, d *resource.Dataplane, inbound int, r *request.Request) (*rules.Effective, *resource.Section) {
	in := config.Inbounds[inbound]
	if in.From != nil {
		client := make(map[string]string, len(r.Tags))
		for _, tag := range r.Tags {
			client[tag.Key] = tag.Value
		}
		return in.From.Client(client), config.Kind.From
	}
	protocol := request.ProtocolOf(&d.Inbounds[inbound])
	for _, rule := range in.Rules {
		if request.Matches(&rule.Match, protocol, r, scopeOf(config.Kind)) {
			return rule.Effective, config.Kind.Rules
		}
	}
	return nil, config.Kind.Rules
}

// scopeOf returns which part of a header's value must meet the conditions of a kind's
// rules. A second header line must not evade a rule that limits or fails requests (SPEC
// 7.2).
func scopeOf(kind *resource.Kind) request.Scope {
	if kind.Name == "MeshRateLimit" || kind.Name == "MeshFaultInjection" {
		return request.Runs
	}
	return request.Whole
}
