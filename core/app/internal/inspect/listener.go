package inspect

import (
	"fmt"
	"iter"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// Listener is a listener of a builtin gateway or of a zone proxy, with its confs by one
// kind. A listener of a gateway has To, Hosts and Rules, one of a zone proxy has what an
// inbound has.
type Listener struct {
	Listener ListenerRef    `json:"listener"`
	NoEffect string         `json:"noEffect,omitempty"` // why no conf of the kind acts at the listener
	To       *EffectiveConf `json:"to,omitempty"`
	Hosts    []ListenerHost `json:"hosts,omitempty"` // of a route kind, sorted by host name
	InboundRules
}

// ListenerRef identifies a listener.
type ListenerRef struct {
	// Name is the port or HOSTNAME:PORT on a gateway, and the name or the port on a zone
	// proxy.
	Name     string `json:"name"`
	Type     string `json:"type,omitempty"` // of a zone proxy: ZoneIngress or ZoneEgress
	Address  string `json:"address,omitempty"`
	Port     uint32 `json:"port"`
	Hostname string `json:"hostname,omitempty"`
	// Tags are its own tags and, on a gateway, those of the MeshGateway and of the
	// dataplane.
	Tags resource.Tags `json:"tags,omitempty"`
}

// ListenerHost contains the routes of the requests for a host name.
type ListenerHost struct {
	Hostname string `json:"hostname"`
	*EffectiveConf
}

// ListenerPoints returns the listeners of a dataplane in the order of answers, and the
// index of the first one among the inbounds that policies select (core.Selection).
func ListenerPoints(view *core.View, d *resource.Dataplane) (refs []ListenerRef, first int) {
	refs = lists.MapPointers(d.GatewayListeners(), func(l *specs.GatewayListener) ListenerRef { return newGatewayListenerRef(d, l) })
	zones := view.Semantics().ZoneListeners(d)
	for i := range zones {
		l := &zones[i]
		refs = append(refs, ListenerRef{Name: l.SectionName(), Type: l.Type(), Address: l.Address, Port: l.Port, Tags: l.Tags})
	}
	return refs, len(d.Inbounds)
}

func newGatewayListenerRef(d *resource.Dataplane, l *specs.GatewayListener) ListenerRef {
	return ListenerRef{Name: l.Name(), Port: l.Port, Hostname: l.Hostname, Tags: semantics.ListenerTags(d, l)}
}

// NoEffect returns the reason why the confs of a kind do not act at the listener, or "" if
// they do (SPEC 17.4).
func (l *ListenerRef) NoEffect(kind *resource.Kind) string {
	if l.Type == resource.ZoneIngressKind && (kind.Name == "MeshTrafficPermission" || kind.Name == "MeshTLS") {
		return "an ingress passes TLS as it is, so it does not see its clients"
	}
	return ""
}

// ListenerSection returns the section whose confs a listener of a gateway has for requests,
// or nil.
func ListenerSection(kind *resource.Kind) *resource.Section {
	if kind.Gateway != nil {
		return kind.Gateway
	}
	return kind.To
}

// listeners returns the confs of the listeners of a dataplane by one kind.
func (a *dataplaneAnswer) listeners(config *results.Config) []Listener {
	refs, first := ListenerPoints(a.view, a.dataplane)
	var list []Listener
	for i, c := range a.view.ListenerConfigs(a.dataplane, config.Kind.Name, ScopeOf(a.options.Shadow)) {
		list = append(list, a.listener(config.Kind, refs[i], first+i, c))
	}
	return list
}

func (a *dataplaneAnswer) listener(kind *resource.Kind, ref ListenerRef, point int, c *results.ListenerConfig) Listener {
	options := a.options
	options.isHere = func(n *NoEffect) bool { return n.Inbound == point }
	if ref.Type == "" {
		options.NoEffect = nil // proxies of builtin gateways are not configured here
	}
	listener := Listener{Listener: ref, NoEffect: ref.NoEffect(kind), To: NewEffectiveConf(c.To, ListenerSection(kind), options)}
	listener.Hosts = lists.Map(c.Hosts, func(host results.HostConfig) ListenerHost {
		return ListenerHost{host.Hostname, NewEffectiveConf(host.Effective, ListenerSection(kind), options)}
	})
	place := fmt.Sprintf("%s of listener %s of %s", kind.Name, ref.Name, a.dataplane.Name)
	listener.InboundRules = a.rules(kind, c.Inbound, place, options)
	return listener
}

// Points yields the inbounds of a dataplane and its listeners, with the place and the rules
// of each by a config.
func Points(view *core.View, config *results.Config, d *resource.Dataplane, scope core.Scope) iter.Seq2[Place, *results.InboundConfig] {
	return func(yield func(Place, *results.InboundConfig) bool) {
		for i, c := range config.Inbounds {
			if d.IsListener(i) && !yield(PointPlace(view, d, i), c) {
				return
			}
		}
		for i, c := range view.ListenerConfigs(d, config.Kind.Name, scope) {
			if !yield(PointPlace(view, d, len(d.Inbounds)+i), c.Inbound) {
				return
			}
		}
	}
}

// listenerNames returns the names of the listeners in a set.
func listenerNames(view *core.View, set *results.InboundSet, d *resource.Dataplane) []string {
	refs, first := ListenerPoints(view, d)
	var names []string
	for i := range refs {
		if set.Has(first + i) {
			names = append(names, refs[i].Name)
		}
	}
	return names
}
