package naive

import "github.com/meshmatch/meshmatch/core/resource"

// inbounds returns the part of the answer about inbounds, in the order of the
// file (SPEC 7.1, 7.3).
func (m *mesh) inbounds(kind *resource.Kind, policies []matched, dp *resource.Dataplane) []any {
	list := []any{}
	for i := range dp.Inbounds {
		answer := map[string]any{"inbound": describeInbound(&dp.Inbounds[i])}
		onInbound := selectingInbound(policies, i)
		switch {
		case kind.Rules == nil:
		case kind.Rules.Unmerged:
			if permissions := m.permissions(onInbound); len(permissions) > 0 {
				answer["permissions"] = permissions
			}
		default:
			if rules := m.rules(onInbound); len(rules) > 0 {
				answer["rules"] = rules
			}
		}
		list = append(list, answer)
	}
	return list
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
