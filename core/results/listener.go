package results

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/resource"
)

// ListenerConfig is the configuration of a listener of a builtin gateway or of a zone proxy
// by the policies of one kind (SPEC 17.3).
type ListenerConfig struct {
	// To is the conf of requests that the listener receives, by `to` items of kind Mesh; nil
	// if there is none, for a route kind, and for a zone proxy.
	To *Effective
	// Hosts are the routes of the requests for each host name, sorted by name.
	Hosts []HostConfig
	// Inbound has the rules of the listener. It is empty for kinds whose `from` does not
	// apply to gateways.
	Inbound *InboundConfig
}

// HostConfig contains the routes of the requests for a host name.
type HostConfig struct {
	Hostname string // * for routes without a host name
	*Effective
}

// Hosted is a Conf of routes that is limited to host names. None means all hosts.
type Hosted interface{ HostNames() []string }

// ListenerTo returns the part of the configuration of a listener that `to` items give it,
// by its index and host name; routes for other host names are not in it. Matched is the
// list of the policies of the kind that select the gateway. A policy that is attached to a
// route does not apply to a whole listener.
func ListenerTo(kind *resource.Kind, matched Matched, listener int, hostname string) *ListenerConfig {
	var items []Contribution
	for _, s := range matched.All() {
		if p := s.Policy; s.Inbounds.Has(listener) && !p.TargetRef.Kind.IsRoute() {
			items = appendGatewayItems(items, p)
		}
	}
	section := cmp.Or(kind.Gateway, kind.To)
	c := &ListenerConfig{}
	switch {
	case len(items) == 0:
	case kind.IsRoute():
		byHost := map[string][]Contribution{}
		for _, item := range items {
			for _, name := range hostNames(item.Conf) {
				if hasHost(hostname, name) || hasHost(name, hostname) {
					byHost[name] = append(byHost[name], item)
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(byHost)) {
			c.Hosts = append(c.Hosts, HostConfig{name, Merge(section.Conf, byHost[name])})
		}
	default:
		c.To = Merge(section.Conf, items)
	}
	return c
}

// appendGatewayItems appends the items of a policy that apply to listeners of gateways.
func appendGatewayItems(items []Contribution, p *resource.Policy) []Contribution {
	list := p.Gateway
	if len(list) == 0 {
		list = p.To
	}
	for i := range list {
		if list[i].TargetRef.Kind == resource.TargetMesh {
			items = append(items, Contribution{Origin{p, i}, list[i].Conf})
		}
	}
	return items
}

// hostNames returns the distinct host names of a conf of a route kind.
func hostNames(c resource.Conf) []string {
	if hosted, ok := c.(Hosted); ok {
		if names := hosted.HostNames(); len(names) > 0 {
			return slices.Compact(slices.Sorted(slices.Values(names)))
		}
	}
	return []string{resource.AnyValue}
}

// hasHost reports whether a host name has every host of another one. It may begin with *.
// for all hosts below a name; * and "" have all hosts.
func hasHost(name, other string) bool {
	suffix, wildcard := strings.CutPrefix(name, resource.AnyValue)
	return name == "" || name == other || wildcard && strings.HasSuffix(other, suffix)
}
