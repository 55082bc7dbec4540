package inspect

import (
	"iter"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// Outbound is an outbound with its conf and the confs of its routes.
type Outbound struct {
	Outbound OutboundRef `json:"outbound"`
	*EffectiveConf
	Routes []Route `json:"routes,omitempty"` // sorted by KRI
}

// OutboundRef identifies an outbound.
type OutboundRef struct {
	Address string        `json:"address,omitempty"`
	Port    uint32        `json:"port,omitempty"`
	Tags    resource.Tags `json:"tags,omitempty"`
	// Destination is the KRI of the destination of an outbound without tags. Name is
	// the name of the destination's port, or "" if it has none (SPEC 17.3).
	Destination string `json:"destination,omitempty"`
	Name        string `json:"name,omitempty"`
}

// Route is a route of an outbound with its conf.
type Route struct {
	Route string `json:"route"` // KRI
	*EffectiveConf
	Name string `json:"-"` // namespace/name
}

func newOutbound(ref *OutboundRef, config *results.OutboundConfig, kind *resource.Kind, options Options) Outbound {
	out := Outbound{Outbound: *ref, EffectiveConf: NewEffectiveConf(config.Effective, kind.To, options)}
	out.Routes = lists.Map(config.Routes, func(r results.RouteConfig) Route {
		return Route{options.PolicyKRI(r.Route), NewEffectiveConf(r.Effective, kind.To, options), r.Route.Kind + " " + r.Route.Qualified()}
	})
	slices.SortFunc(out.Routes, func(a, b Route) int { return strings.Compare(a.Route, b.Route) })
	return out
}

// Outbounds yields the [core.View.Outbounds] of a dataplane for the kind of a config.
func Outbounds(view *core.View, config *results.Config, d *resource.Dataplane, scope core.Scope) iter.Seq2[*OutboundRef, *results.OutboundConfig] {
	return func(yield func(*OutboundRef, *results.OutboundConfig) bool) {
		list, _ := view.Outbounds(d, config.Kind.Name, scope) // the config is of the view, so there is no error
		for i := range list {
			if !yield(NewOutboundRef(view, &list[i]), &list[i].OutboundConfig) {
				return
			}
		}
	}
}

// OutboundAt returns element i of [Outbounds].
func OutboundAt(view *core.View, config *results.Config, d *resource.Dataplane, scope core.Scope, i int) (*OutboundRef, *results.OutboundConfig) {
	list, _ := view.Outbounds(d, config.Kind.Name, scope)
	if i >= len(list) {
		return nil, nil
	}
	return NewOutboundRef(view, &list[i]), &list[i].OutboundConfig
}

// NewOutboundRef returns what identifies an outbound of the view.
func NewOutboundRef(view *core.View, o *core.Outbound) *OutboundRef {
	if o.Listed != nil {
		return &OutboundRef{Address: o.Listed.Address, Port: o.Listed.Port, Tags: o.Listed.Tags}
	}
	to := o.Destination
	return &OutboundRef{Address: to.Address, Port: to.Listens, Destination: view.Semantics().KRI(to.Destination.KRI(""), to.Destination.Identity()), Name: to.Port.Name}
}
