package naive

import "github.com/meshmatch/meshmatch/core/resource"

// Inspect returns the output of `meshmatch inspect dataplane` (SPEC 10), without `from`.
// The namespace may be empty if the name is unique. It returns an error if there is no
// such dataplane or kind.
func Inspect(kinds *resource.Kinds, set *resource.Set, meshName, namespace, name string, opt Options) (map[string]any, error) {
	dp, err := findDataplane(set, meshName, namespace, name)
	if err != nil {
		return nil, err
	}
	chosen := kinds.All()
	if opt.Kind != "" {
		kind, err := findKind(kinds, opt.Kind)
		if err != nil {
			return nil, err
		}
		chosen = []*resource.Kind{kind}
	}
	m := newMesh(set, meshName, opt)
	dp = m.proxy(dp)
	policies := []any{}
	for _, kind := range chosen { // sorted by name
		if matching := m.matching(kind, dp); len(matching) > 0 {
			policies = append(policies, m.inspectKind(kind, matching, dp))
		}
	}
	semantics := opt.Semantics
	if semantics == "" {
		semantics = "targetref"
	}
	described := m.describeDataplane(dp)
	if id := m.spiffeID(dp); id != "" {
		described["spiffeId"] = id
	}
	answer := map[string]any{"dataplane": described, "semantics": semantics, "policies": policies}
	if gateway := m.describeGateway(dp); gateway != nil {
		answer["gateway"] = gateway
	}
	if len(dp.Inbounds) > 0 && m.permitsAll(dp) {
		answer["permissionsNotApplied"] = true
	}
	return answer, nil
}

// Outbounds returns the outbounds of a dataplane with their confs, as in an answer, for
// each kind with `to`. A kind without policies that select the dataplane is included.
func Outbounds(kinds *resource.Kinds, set *resource.Set, meshName, namespace, name string, opt Options) (map[string]any, error) {
	dp, err := findDataplane(set, meshName, namespace, name)
	if err != nil {
		return nil, err
	}
	m := newMesh(set, meshName, opt)
	dp = m.proxy(dp)
	answer := map[string]any{}
	for _, kind := range kinds.All() {
		if kind.To != nil {
			matching := m.matching(kind, dp)
			answer[kind.Name] = append(m.outbounds(kind, matching, dp), m.targetOutbounds(kind, matching, dp)...)
		}
	}
	return answer, nil
}

func (m *mesh) describeDataplane(dp *resource.Dataplane) map[string]any {
	answer := map[string]any{"mesh": dp.Mesh, "name": dp.Name, "kri": m.kri("dp", &dp.Meta)}
	if dp.Namespace != "" {
		answer["namespace"] = dp.Namespace
	}
	return answer
}

func (m *mesh) inspectKind(kind *resource.Kind, policies []matched, dp *resource.Dataplane) map[string]any {
	answer := map[string]any{"kind": kind.Name, "matched": m.describeMatched(policies, dp)}
	if kind.Default != nil {
		if c := m.single(policies); len(c) > 0 {
			answer["default"] = c
		}
	}
	if kind.To != nil {
		outbounds := append(m.outbounds(kind, policies, dp), m.targetOutbounds(kind, policies, dp)...)
		if len(outbounds) > 0 {
			answer["outbounds"] = outbounds
		}
	}
	if (kind.From != nil || kind.Rules != nil) && len(dp.Inbounds) > 0 {
		answer["inbounds"] = m.inbounds(kind, policies, dp)
	}
	if len(listenersOf(dp)) > 0 && kind.Default == nil {
		answer["listeners"] = m.gatewayListeners(kind, policies, dp)
	}
	if (kind.From != nil || kind.Rules != nil) && len(dp.Listeners) > 0 {
		answer["listeners"] = m.zoneListeners(kind, policies, dp)
	}
	return answer
}

func (m *mesh) describeMatched(policies []matched, dp *resource.Dataplane) []any {
	list := []any{}
	for _, p := range policies {
		_, kind := level(p.Policy)
		answer := map[string]any{"name": p.Name, "kri": m.policyKRI(p.Policy), "level": kind}
		if p.Namespace != "" {
			answer["namespace"] = p.Namespace
		}
		inbounds := []any{}
		for i, selected := range p.inbounds {
			if selected && listenerOf(dp, i) == i {
				inbounds = append(inbounds, inboundName(&dp.Inbounds[i]))
			}
		}
		if len(inbounds) > 0 {
			answer["inbounds"] = inbounds
		}
		listeners := []any{}
		for i, selected := range p.listeners {
			if selected {
				listeners = append(listeners, listenerName(&listenersOf(dp)[i]))
			}
		}
		for i, selected := range p.zones {
			if selected {
				listeners = append(listeners, zoneListenerName(&dp.Listeners[i]))
			}
		}
		if len(listeners) > 0 {
			answer["listeners"] = listeners
		}
		list = append(list, answer)
	}
	return list
}

// single returns the only conf of a kind without arrays (SPEC 4.4).
func (m *mesh) single(policies []matched) map[string]any {
	var items []item
	for _, p := range policies {
		if p.Default != nil && !targetsRoute(p.Policy) {
			items = append(items, item{p.Policy, 0, p.Default})
		}
	}
	answer := map[string]any{}
	m.addConf(answer, items)
	return answer
}
