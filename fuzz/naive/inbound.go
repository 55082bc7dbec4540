package naive

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/resource"
)

// inbounds returns the part of the answer about inbounds, in the order of the
// file (SPEC 7.1, 7.3).
func (m *mesh) inbounds(kind *resource.Kind, policies []matched, dp *resource.Dataplane) []any {
	list := []any{}
	for i := range dp.Inbounds {
		if listenerOf(dp, i) != i {
			continue
		}
		answer := map[string]any{"inbound": describeInbound(&dp.Inbounds[i])}
		m.addRules(answer, kind, selectingInbound(policies, i))
		list = append(list, answer)
	}
	return list
}

// addRules adds the rules of an inbound, or of a listener of a zone proxy, that the
// policies select.
func (m *mesh) addRules(answer map[string]any, kind *resource.Kind, policies []*resource.Policy) {
	switch {
	case kind.Rules == nil:
	case kind.Rules.Unmerged:
		if permissions := m.permissions(policies); len(permissions) > 0 {
			answer["permissions"] = permissions
		}
	default:
		if rules := m.rules(policies); len(rules) > 0 {
			answer["rules"] = rules
		}
	}
}

// zoneListeners returns the part of the answer about the listeners of a zone proxy: each
// has the rules of an inbound that the same policies select. Permissions and MeshTLS do not
// act at an ingress (SPEC 17.4).
func (m *mesh) zoneListeners(kind *resource.Kind, policies []matched, dp *resource.Dataplane) []any {
	list := []any{}
	for i := range dp.Listeners {
		l := &dp.Listeners[i]
		described := map[string]any{"name": zoneListenerName(l), "type": "ZoneIngress", "port": int(l.Port)}
		if l.Egress {
			described["type"] = "ZoneEgress"
		}
		if l.Address != "" {
			described["address"] = l.Address
		}
		addTags(described, l.Tags)
		answer := map[string]any{"listener": described}
		if !l.Egress && (kind.Name == "MeshTrafficPermission" || kind.Name == "MeshTLS") {
			answer["noEffect"] = "an ingress passes TLS as it is, so it does not see its clients"
		}
		m.addRules(answer, kind, selectingListener(policies, i))
		list = append(list, answer)
	}
	return list
}

// selectingListener is selectingInbound for listener i of a zone proxy.
func selectingListener(policies []matched, i int) []*resource.Policy {
	var list []*resource.Policy
	for _, p := range policies {
		if p.zones[i] && !targetsRoute(p.Policy) {
			list = append(list, p.Policy)
		}
	}
	return list
}

func zoneListenerName(l *resource.Listener) string {
	if l.Name != "" {
		return l.Name
	}
	return fmt.Sprint(l.Port)
}

func describeInbound(in *resource.Inbound) map[string]any {
	answer := map[string]any{"name": inboundName(in), "port": int(in.Port)}
	if in.Address != "" {
		answer["address"] = in.Address
	}
	addTags(answer, in.Tags)
	return answer
}

// selectingInbound returns the policies that select inbound i, in order, without
// policies that apply only to a route.
func selectingInbound(policies []matched, i int) []*resource.Policy {
	var list []*resource.Policy
	for _, p := range policies {
		if p.inbounds[i] && !targetsRoute(p.Policy) {
			list = append(list, p.Policy)
		}
	}
	return list
}

// permissions returns the rules without merging them, each with its policy (SPEC 7.3).
func (m *mesh) permissions(policies []*resource.Policy) []any {
	list := []any{}
	for _, p := range policies {
		for i := range p.Rules {
			answer := toJSON(p.Rules[i].Conf).(map[string]any)
			answer["kri"] = m.policyKRI(p)
			list = append(list, answer)
		}
	}
	return list
}
