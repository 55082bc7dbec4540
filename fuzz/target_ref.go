package fuzz

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
)

// targetRef returns a targetRef of one of the kinds, or nil for an absent one,
// which means Mesh.
func (m *meshMaker) targetRef(kinds resource.TargetKinds, top bool) map[string]any {
	kind := pick(m.choices, kinds.Names()...)
	if top && m.intn(2) == 1 {
		if frequent := pick(m.choices, m.targets...); slices.Contains(kinds.Names(), frequent) {
			kind = frequent
		}
	}
	ref := map[string]any{"kind": kind}
	switch kind {
	case "Mesh":
		switch m.intn(3) {
		case 0:
			return nil
		case 1:
			return map[string]any{}
		}
		m.proxyTypes(ref, top)
	case "MeshSubset":
		if !m.rarely(4) {
			ref["tags"] = m.selectorTags()
		}
		m.proxyTypes(ref, top)
	case "Dataplane":
		m.dataplaneRef(ref)
	case "MeshService":
		ref["name"] = pick(m.choices, services...)
	case "MeshServiceSubset":
		ref["name"], ref["tags"] = pick(m.choices, services...), m.selectorTags()
	case "MeshGateway":
		ref["name"] = pick(m.choices, services...)
		if m.intn(2) == 1 {
			ref["tags"] = m.selectorTags()
		}
		m.namespace(ref)
	default:
		m.routeRef(ref, kinds)
	}
	return ref
}

func (m *meshMaker) proxyTypes(ref map[string]any, top bool) {
	if top && m.rarely(3) {
		ref["proxyTypes"] = pick(m.choices, []any{"Sidecar"}, []any{"Gateway"}, []any{"Sidecar", "Gateway"})
	}
}

func (m *meshMaker) namespace(ref map[string]any) {
	if m.rarely(3) {
		ref["namespace"] = pick(m.choices, namespaces...)
	}
}

func (m *meshMaker) dataplaneRef(ref map[string]any) {
	switch m.intn(3) {
	case 1:
		ref["labels"] = m.selectorLabels()
	case 2:
		ref["name"] = pick(m.choices, names...)
		m.namespace(ref)
	}
	if m.intn(2) == 1 {
		ref["sectionName"] = pick(m.choices, sections...)
	}
}

// selectorLabels returns the labels of a selector, which may include the namespace
// and the zone of a dataplane.
func (m *meshMaker) selectorLabels() map[string]any {
	labels := m.labels()
	switch m.intn(6) {
	case 4:
		labels["k8s.kuma.io/namespace"] = pick(m.choices, namespaces...)
	case 5:
		labels["kuma.io/zone"] = pick(m.choices, zones...)
	}
	return labels
}

// routeRef refers to any route, or to one of the scenario's routes.
func (m *meshMaker) routeRef(ref map[string]any, kinds resource.TargetKinds) {
	ref["name"] = pick(m.choices, routes...)
	if len(m.attachable) > 0 && m.intn(2) == 1 {
		if r := pick(m.choices, m.attachable...); slices.Contains(kinds.Names(), r.kind) {
			ref["kind"], ref["name"] = r.kind, r.name
		}
	}
	m.namespace(ref)
}

// selectorTags returns one or two tags of a selector, some with the value *.
func (m *meshMaker) selectorTags() map[string]any {
	tags := map[string]any{}
	for range 1 + m.intn(2) {
		switch m.intn(5) {
		case 0, 1:
			tags["version"] = pick(m.choices, "v1", "v2", "*")
		case 2:
			tags["team"] = pick(m.choices, "x", "y", "*")
		case 3:
			tags["kuma.io/service"] = pick(m.choices, "web", "api", "*")
		case 4:
			tags["kuma.io/zone"] = pick(m.choices, "east", "west", "*")
		}
	}
	return tags
}
