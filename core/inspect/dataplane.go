package inspect

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/match"
	"github.com/meshmatch/meshmatch/core/partition"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// Dataplane is the answer of `inspect dataplane` (SPEC 10).
type Dataplane struct {
	Dataplane DataplaneRef `json:"dataplane"`
	Policies  []Kind       `json:"policies"` // sorted by kind
}

// DataplaneRef names a dataplane.
type DataplaneRef struct {
	Mesh      string `json:"mesh"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	KRI       string `json:"kri"`
}

// Kind is what the policies of one kind say about a dataplane.
type Kind struct {
	Kind      string     `json:"kind"`
	Matched   []Matched  `json:"matched"` // in order: later overrides
	Default   *C         `json:"default,omitempty"`
	Outbounds []Outbound `json:"outbounds,omitempty"`
	Inbounds  []Inbound  `json:"inbounds,omitempty"`
}

// Matched is a policy that selects the dataplane.
type Matched struct {
	Name      string   `json:"name"`
	Namespace string   `json:"namespace,omitempty"`
	KRI       string   `json:"kri"`
	Level     string   `json:"level"` // the targetRef's kind
	Inbounds  []string `json:"inbounds,omitempty"`
}

// Outbound is an outbound with its conf and those of its routes.
type Outbound struct {
	Outbound OutboundRef `json:"outbound"`
	*C
	Routes []Route `json:"routes,omitempty"` // sorted by KRI
}

// OutboundRef names an outbound.
type OutboundRef struct {
	Address string        `json:"address,omitempty"`
	Port    uint32        `json:"port,omitempty"`
	Tags    resource.Tags `json:"tags,omitempty"`
}

// Route is a route of an outbound with its conf.
type Route struct {
	Route string `json:"route"` // KRI
	*C
}

// Options selects what an answer contains.
type Options struct {
	Kind    string // "": all kinds
	Shadow  bool   // with the policies that only inform (SPEC 8.3)
	Explain bool   // with the origin of every field
	Ordered bool   // `from` as first-match rules with positive selectors
	// Limits bounds the rule view of `from`; zero: the defaults (SPEC 5.5).
	Limits partition.Limits
}

// NewDataplane returns the answer for a dataplane of the view. The error names
// an inbound whose rule view passes its limit.
func NewDataplane(view *core.View, d *resource.Dataplane, options Options) (*Dataplane, error) {
	answer := &Dataplane{Dataplane: newDataplaneRef(d), Policies: []Kind{}}
	for _, config := range view.Configs(d, core.Scope{Kind: options.Kind, Shadow: options.Shadow}) {
		kind, err := newKind(config, d, options)
		if err != nil {
			return nil, err
		}
		answer.Policies = append(answer.Policies, kind)
	}
	return answer, nil
}

func newDataplaneRef(d *resource.Dataplane) DataplaneRef {
	return DataplaneRef{Mesh: d.Mesh, Namespace: d.Namespace, Name: d.Name, KRI: d.KRI("")}
}

func newKind(config *rules.Config, d *resource.Dataplane, options Options) (Kind, error) {
	k := Kind{Kind: config.Kind.Name, Default: NewC(config.Default, options.Explain)}
	for _, m := range config.Matched.All() {
		k.Matched = append(k.Matched, newMatched(m, d))
	}
	for i := range config.Outbounds {
		k.Outbounds = append(k.Outbounds, newOutbound(&config.Outbounds[i], &d.Outbounds[i], options.Explain))
	}
	for i := range config.Inbounds {
		in, err := newInbound(&config.Inbounds[i], &d.Inbounds[i], options)
		if err != nil {
			return k, fmt.Errorf("%s of inbound %s of %s: %w", config.Kind.Name, d.Inbounds[i].SectionName(), d.Name, err)
		}
		k.Inbounds = append(k.Inbounds, in)
	}
	return k, nil
}

func newMatched(s *match.Selected, d *resource.Dataplane) Matched {
	return Matched{
		Name: s.Policy.Name, Namespace: s.Policy.Namespace, KRI: s.Policy.KRI(),
		Level: s.Policy.TargetRef.Kind.String(), Inbounds: inboundNames(&s.Inbounds, d),
	}
}

func inboundNames(set *match.InboundSet, d *resource.Dataplane) []string {
	var names []string
	for i := range d.Inbounds {
		if set.Has(i) {
			names = append(names, d.Inbounds[i].SectionName())
		}
	}
	return names
}

func newOutbound(config *rules.OutboundConfig, o *resource.Outbound, explain bool) Outbound {
	out := Outbound{Outbound: *newOutboundRef(o), C: NewC(config.Effective, explain)}
	for _, r := range config.Routes {
		out.Routes = append(out.Routes, Route{Route: r.Route.KRI(), C: NewC(r.Effective, explain)})
	}
	return out
}

func newOutboundRef(o *resource.Outbound) *OutboundRef {
	return &OutboundRef{Address: o.Address, Port: o.Port, Tags: o.Tags}
}
