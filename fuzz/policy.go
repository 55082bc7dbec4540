package fuzz

import (
	"maps"
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
)

// policy returns a policy of one of the scenario's kinds or, in one of three cases, a
// route that policies can select.
func (m *meshMaker) policy() map[string]any {
	kind, name := pick(m.choices, m.focus...), pick(m.choices, names...)
	if m.rarely(3) {
		if route := m.routeKind(); route != nil {
			kind = route
		}
	}
	if kind.IsRoute() {
		name = pick(m.choices, routes...)
		m.attachable = append(m.attachable, route{kind.Name, name})
	}
	labels := map[string]any{}
	if m.rarely(6) || m.informing && m.intn(2) == 1 {
		labels["kuma.io/effect"] = "shadow"
	}
	spec := map[string]any{}
	if ref := m.targetRef(kind.Top, true); ref != nil {
		spec["targetRef"] = ref
	}
	m.arrays(kind, spec)
	if ref, _ := spec["targetRef"].(map[string]any); ref["kind"] != "MeshGateway" {
		withoutHostnames(spec)
	}
	return m.resource(kind.Name, name, labels, spec)
}

// withoutHostnames removes the fields that only routes of a gateway have (SPEC
// 2.4).
func withoutHostnames(spec map[string]any) {
	items, _ := spec["to"].([]any)
	for _, item := range items {
		delete(item.(map[string]any), "hostnames")
	}
}

func (m *meshMaker) routeKind() *resource.Kind {
	var kinds []*resource.Kind
	for _, kind := range m.kinds.All() {
		if kind.IsRoute() {
			kinds = append(kinds, kind)
		}
	}
	if kinds == nil {
		return nil
	}
	return pick(m.choices, kinds...)
}

// arrays adds the arrays or the default of the kind (SPEC 2.4).
func (m *meshMaker) arrays(kind *resource.Kind, spec map[string]any) {
	if kind.Default != nil {
		spec["default"] = m.conf(m.choices, kind.Default)
		return
	}
	if kind.To != nil && (!m.rarely(4) || kind.From == nil && kind.Rules == nil) {
		spec["to"] = m.items(kind.To, m.toRef)
	}
	rules := kind.Rules != nil && (kind.From == nil || m.intn(2) == 1)
	switch {
	case rules && m.rarely(4):
		spec["default"] = m.conf(m.choices, kind.Rules)
	case rules:
		spec["rules"] = m.rules(kind.Rules)
	case kind.From != nil && (!m.rarely(4) || spec["to"] == nil):
		spec["from"] = m.items(kind.From, m.fromRef)
	}
	if kind.Gateway != nil && m.intn(2) == 1 && mayHaveListeners(kind, spec["targetRef"]) {
		spec["to"] = m.items(kind.Gateway, m.wholeMesh)
	}
}

// mayHaveListeners reports whether `to` items of kind Mesh are allowed (SPEC 2.4).
func mayHaveListeners(kind *resource.Kind, targetRef any) bool {
	ref, _ := targetRef.(map[string]any)
	top := ref["kind"]
	if kind.IsRoute() {
		return top == "MeshGateway"
	}
	types, _ := ref["proxyTypes"].([]any)
	switch top {
	case nil, "Mesh", "MeshSubset":
		return types == nil || slices.Contains(types, any("Gateway"))
	}
	return top == "MeshGateway" || top == "MeshHTTPRoute"
}

// wholeMesh returns a targetRef of kind Mesh, or nil, which means the same.
func (m *meshMaker) wholeMesh(resource.TargetKinds) map[string]any {
	if m.intn(2) == 1 {
		return nil
	}
	return map[string]any{"kind": "Mesh"}
}

// items returns items whose targetRefs come from a function.
func (m *meshMaker) items(section *resource.Section, targetRef func(resource.TargetKinds) map[string]any) []any {
	items := []any{}
	for range m.arrayLength() {
		item := map[string]any{"default": m.conf(m.choices, section)}
		if section.Inline {
			item = map[string]any{}
			maps.Copy(item, m.conf(m.choices, section))
		}
		if ref := targetRef(section.Targets); ref != nil {
			item["targetRef"] = ref
		}
		items = append(items, item)
	}
	return items
}

func (m *meshMaker) rules(section *resource.Section) []any {
	rules := []any{}
	for range m.arrayLength() {
		conf := m.conf(m.choices, section)
		rule := map[string]any{"default": conf}
		if section.Matches && !m.rarely(4) {
			matches := m.matches()
			if refusesSpiffeID(section, conf) {
				withoutSpiffeID(matches)
			}
			rule["matches"] = matches
		}
		rules = append(rules, rule)
	}
	return rules
}

// arrayLength is at least one: SPEC 5.6 does not define whether an empty `rules`
// disables the `from` of other policies.
func (m *meshMaker) arrayLength() int { return 1 + m.intn(3) }
