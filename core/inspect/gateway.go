package inspect

import (
	"slices"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/resource/specs"
	"github.com/meshmatch/meshmatch/core/rules"
	"github.com/meshmatch/meshmatch/core/semantics"
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

// ListenerRef identifies a listener of a builtin gateway.
type ListenerRef struct {
	Name     string `json:"name"` // its port, or HOSTNAME:PORT
	Port     uint32 `json:"port"`
	Hostname string `json:"hostname,omitempty"`
	// Tags are its own tags, those of the MeshGateway and those of the dataplane.
	Tags resource.Tags `json:"tags,omitempty"`
}

// Listener is a listener of a builtin gateway with its confs by one kind.
type Listener struct {
	Listener ListenerRef    `json:"listener"`
	To       *EffectiveConf `json:"to,omitempty"`
	Hosts    []ListenerHost `json:"hosts,omitempty"` // of a route kind, sorted by host name
	Rules    []Rule         `json:"rules,omitempty"` // first match first
}

// ListenerHost contains the routes of the requests for a host name.
type ListenerHost struct {
	Hostname string `json:"hostname"`
	*EffectiveConf
}

func newListenerRef(d *resource.Dataplane, l *specs.GatewayListener) ListenerRef {
	return ListenerRef{Name: l.Name(), Port: l.Port, Hostname: l.Hostname, Tags: semantics.ListenerTags(d, l)}
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
		listener := GatewayListener{ListenerRef: newListenerRef(d, l), Protocol: string(l.Protocol)}
		for _, route := range routes {
			if slices.ContainsFunc(route.Spec.Selectors, func(s specs.TagSelector) bool { return semantics.SelectsTags(s.Match, listener.Tags) }) {
				listener.Routes = append(listener.Routes, kri(route))
			}
		}
		gateway.Listeners = append(gateway.Listeners, listener)
	}
	return gateway
}

// listeners returns the confs of the listeners of a builtin gateway by one kind.
func (a *dataplaneAnswer) listeners(config *rules.Config) []Listener {
	kind := config.Kind
	var list []Listener
	for i, c := range a.view.ListenerConfigs(a.dataplane, kind.Name, ScopeOf(a.options.Shadow)) {
		options := a.options
		options.NoEffect = nil // proxies of builtin gateways are not configured here
		section := kind.Gateway
		if section == nil {
			section = kind.To
		}
		listener := Listener{Listener: newListenerRef(a.dataplane, &a.dataplane.GatewayListeners()[i]), To: NewEffectiveConf(c.To, section, options)}
		for _, host := range c.Hosts {
			listener.Hosts = append(listener.Hosts, ListenerHost{host.Hostname, NewEffectiveConf(host.Effective, section, options)})
		}
		if a.budget.Take(len(c.Inbound.Rules), kind.Name+" of listener "+listener.Listener.Name+" of "+a.dataplane.Name) {
			for _, r := range c.Inbound.Rules {
				listener.Rules = append(listener.Rules, Rule{r.Match, NewEffectiveConf(r.Effective, kind.Rules, options)})
			}
		}
		list = append(list, listener)
	}
	return list
}

// listenerNames returns the names of the listeners in a set.
func listenerNames(set *rules.InboundSet, d *resource.Dataplane) []string {
	var names []string
	for i := range d.GatewayListeners() {
		if set.Has(i) {
			names = append(names, d.GatewayListeners()[i].Name())
		}
	}
	return names
}
