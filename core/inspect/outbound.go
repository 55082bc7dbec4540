package inspect

import (
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// Outbound is an outbound with its conf and those of its routes.
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
}

// Route is a route of an outbound with its conf.
type Route struct {
	Route string `json:"route"` // KRI
	*EffectiveConf
	Name string `json:"-"` // namespace/name
}

func newOutbound(config *rules.Config, d *resource.Dataplane, i int, options Options) Outbound {
	o := &config.Outbounds[i]
	out := Outbound{Outbound: *newOutboundRef(&d.Outbounds[i]), EffectiveConf: NewEffectiveConf(o.Effective, config.Kind.To, options)}
	for _, r := range o.Routes {
		out.Routes = append(out.Routes, Route{r.Route.KRI(), NewEffectiveConf(r.Effective, config.Kind.To, options), r.Route.Kind + " " + qualifiedName(&r.Route.Meta)})
	}
	return out
}

func newOutboundRef(o *resource.Outbound) *OutboundRef {
	return &OutboundRef{Address: o.Address, Port: o.Port, Tags: o.Tags}
}
