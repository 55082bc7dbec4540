package inspect

import (
	"slices"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Gateway is the MeshGateway of a builtin gateway (SPEC 17.3).
type Gateway struct {
	KRI       string            `json:"kri"`
	Listeners []GatewayListener `json:"listeners"`
}

// GatewayListener is a listener of a builtin gateway.
type GatewayListener struct {
	ListenerRef
	Protocol string   `json:"protocol"`
	Routes   []string `json:"routes,omitempty"` // the KRIs of its MeshGatewayRoutes, sorted by identity
}

// newGateway returns the MeshGateway of a dataplane, or nil.
func newGateway(view *core.View, d *resource.Dataplane) *Gateway {
	if d.Gateway == nil || d.Gateway.MeshGateway == nil {
		return nil
	}
	kri := func(o resource.Object) string { return view.Semantics().KRI(o.KRI(""), o.Identity()) }
	gateway := &Gateway{KRI: kri(d.Gateway.MeshGateway)}
	routes := resource.ObjectsOf[*resource.MeshGatewayRoute](view.Objects(d.Mesh))
	for i := range d.GatewayListeners() {
		l := &d.GatewayListeners()[i]
		listener := GatewayListener{ListenerRef: newGatewayListenerRef(d, l), Protocol: string(l.Protocol)}
		attached := lists.Filter(routes, func(route *resource.MeshGatewayRoute) bool {
			return slices.ContainsFunc(route.Spec.Selectors, func(s specs.TagSelector) bool { return listener.Tags.Contains(s.Match) })
		})
		listener.Routes = lists.Map(attached, func(route *resource.MeshGatewayRoute) string { return kri(route) })
		gateway.Listeners = append(gateway.Listeners, listener)
	}
	return gateway
}
