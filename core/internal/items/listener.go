package items

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// ListenerTo returns the part of the configuration of a listener that `to` items give it,
// by its index and host name; routes for other host names are not in it. Matched is the
// list of the policies of the kind that select the gateway.
func (m *Memo) ListenerTo(s semantics.Semantics, kind *resource.Kind, matched results.Matched, listener int, hostname string) *results.ListenerConfig {
	var items []results.Contribution
	for _, selected := range matched.All() {
		if p := selected.Policy; selected.Inbounds.Has(listener) && Contributes(s, p, nil) {
			items = appendGatewayItems(items, p)
		}
	}
	section := cmp.Or(kind.Gateway, kind.To)
	c := &results.ListenerConfig{}
	switch {
	case len(items) == 0:
	case kind.IsRoute():
		byHost := map[string][]results.Contribution{}
		for _, item := range items {
			for _, name := range hostNames(item.Conf) {
				if hasHost(hostname, name) || hasHost(name, hostname) {
					byHost[name] = append(byHost[name], item)
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(byHost)) {
			c.Hosts = append(c.Hosts, results.HostConfig{Hostname: name, Effective: m.Merge(section, byHost[name])})
		}
	default:
		c.To = m.Merge(section, items)
	}
	return c
}

// appendGatewayItems appends the items of a policy that apply to listeners of gateways.
func appendGatewayItems(items []results.Contribution, p *resource.Policy) []results.Contribution {
	list := p.Gateway
	if len(list) == 0 {
		list = p.To
	}
	for i := range list {
		if list[i].TargetRef.Kind == resource.TargetMesh {
			items = append(items, results.Contribution{Origin: results.Origin{Policy: p, Index: i}, Conf: list[i].Conf})
		}
	}
	return items
}

// hostNames returns the distinct host names of a conf of a route kind.
func hostNames(c resource.Conf) []string {
	if hosted, ok := c.(hosted); ok {
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

// hosted is a Conf of routes that is limited to host names. None means all hosts.
type hosted interface{ HostNames() []string }
