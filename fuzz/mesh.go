package fuzz

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
)

// meshMaker makes the documents of one scenario.
type meshMaker struct {
	*Generator
	*choices

	// Most policies are of few kinds, so that they meet; half of them have
	// targetRefs of few kinds, and most of their rules few matches.
	focus    []*resource.Kind
	targets  []string
	requests [][]map[string]any

	attachable []route         // routes that there are, to name in targetRefs
	taken      map[string]bool // identities; a second one would be an error
}

// route is what a targetRef of a route kind names.
type route struct{ kind, name string }

// The alphabets. They are as small as they can be while every rule of SPEC 2
// still has something to tell apart.
var (
	services   = []string{"web", "api"}
	versions   = []string{"v1", "v2"}
	zones      = []string{"east", "west_1%"} // with what a KRI escapes
	namespaces = []string{"ns"}
	sections   = []string{"http", "80", "81"}
	names      = []string{"a", "b", "B", "c"}
	routes     = []string{"r1", "r2"}
	apps       = []string{"x", "y"}
	tiers      = []string{"x", "y"}
)

// resource returns a document in one of the two spellings, or nil where the
// identity is taken.
func (m *meshMaker) resource(kind, name string, labels, body map[string]any) map[string]any {
	mesh, namespace := "default", ""
	if m.rarely(16) {
		mesh = "other"
	}
	if m.rarely(4) {
		namespace = pick(m.choices, namespaces...)
	}
	if m.rarely(4) {
		labels["kuma.io/zone"] = pick(m.choices, zones...)
	}
	identity := kind + "/" + mesh + "/" + namespace + "/" + name
	if m.taken[identity] {
		return nil
	}
	m.taken[identity] = true
	if m.rarely(3) {
		return kubernetes(kind, mesh, namespace, name, labels, body)
	}
	return universal(kind, mesh, namespace, name, labels, body)
}

func kubernetes(kind, mesh, namespace, name string, labels, spec map[string]any) map[string]any {
	if mesh != "default" {
		labels["kuma.io/mesh"] = mesh
	}
	metadata := map[string]any{"name": name, "labels": labels}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	return map[string]any{"apiVersion": "kuma.io/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}
}

func universal(kind, mesh, namespace, name string, labels, spec map[string]any) map[string]any {
	if namespace != "" {
		labels["k8s.kuma.io/namespace"] = namespace
	}
	return map[string]any{"type": kind, "mesh": mesh, "name": name, "labels": labels, "spec": spec}
}

// dataplane returns a sidecar, a gateway or a dataplane without either.
func (m *meshMaker) dataplane() map[string]any {
	networking := map[string]any{"address": "10.0.0.1"}
	if m.rarely(4) {
		networking["gateway"] = map[string]any{"type": pick(m.choices, "BUILTIN", "DELEGATED"), "tags": m.tags()}
	} else {
		if inbounds := m.inbounds(); len(inbounds) > 0 {
			networking["inbound"] = inbounds
		}
	}
	var outbounds []any
	for i := range m.of(4) {
		tags := m.tags()
		if m.rarely(8) {
			delete(tags, "kuma.io/service")
		}
		outbounds = append(outbounds, map[string]any{"port": 10000 + i, "address": "127.0.0.1", "tags": tags})
	}
	if outbounds != nil {
		networking["outbound"] = outbounds
	}
	return m.resource("Dataplane", pick(m.choices, names...), m.labels(), map[string]any{"networking": networking})
}

// labels returns those of a dataplane, or of a targetRef.
func (m *meshMaker) labels() map[string]any {
	labels := map[string]any{}
	if m.of(2) == 1 {
		labels["app"] = pick(m.choices, apps...)
	}
	if m.of(2) == 1 {
		labels["tier"] = pick(m.choices, tiers...)
	}
	return labels
}

// inbounds returns a few, and rarely those again and again until they are more
// than a machine word has bits.
func (m *meshMaker) inbounds() []any {
	n := m.of(256)
	var inbounds []any
	for range n % 4 {
		inbounds = append(inbounds, m.inbound())
	}
	if n == 255 {
		inbounds = slices.Repeat(inbounds, 22)
	}
	return inbounds
}

func (m *meshMaker) inbound() map[string]any {
	inbound := map[string]any{"port": pick(m.choices, 80, 81), "tags": m.tags()}
	if m.of(2) == 1 {
		inbound["name"] = pick(m.choices, sections...)
	}
	if m.of(2) == 1 {
		inbound["protocol"] = pick(m.choices, "http", "tcp", "grpc", "http2")
	}
	return inbound
}

// tags returns those of an inbound, an outbound or a gateway.
func (m *meshMaker) tags() map[string]any {
	tags := map[string]any{"kuma.io/service": pick(m.choices, services...)}
	if m.of(2) == 1 {
		tags["version"] = pick(m.choices, versions...)
	}
	if m.rarely(4) {
		tags["team"] = pick(m.choices, apps...)
	}
	if m.rarely(4) {
		tags["kuma.io/protocol"] = pick(m.choices, "http", "http2", "tcp")
	}
	return tags
}
