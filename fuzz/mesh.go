package fuzz

import (
	"fmt"
	"maps"
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
)

// meshMaker makes the documents of one scenario.
type meshMaker struct {
	*Generator
	*choices

	// To make policies overlap, most policies are of the kinds in focus, and half of
	// them have targetRefs of the kinds in targets. Most of their rules have matches
	// in requests.
	focus    []*resource.Kind
	targets  []string
	requests [][]map[string]any

	informing  bool            // there are placements, and half of the policies have the shadow label
	policies   []subjectRef    // of the scenario, for bindings
	attachable []route         // the routes of the scenario, to which policies can be attached
	taken      map[string]bool // identities, which must be unique
}

// route identifies a route in a targetRef.
type route struct{ kind, name string }

// The alphabets are small, so that selectors overlap, but have two different values
// where SPEC 2 compares values.
var (
	services   = []string{"web", "api"}
	versions   = []string{"v1", "v2"}
	zones      = []string{"east", "west_1%"} // with characters that a KRI escapes
	namespaces = []string{"ns", "ns2"}
	sections   = []string{"http", "80", "81"}
	names      = []string{"a", "b", "B", "c"}
	routes     = []string{"r1", "r2"}
	apps       = []string{"x", "y"}
	tiers      = []string{"x", "y"}
)

// resource returns a document in one of the two formats, or nil if its identity is
// taken.
func (m *meshMaker) resource(kind, name string, labels, body map[string]any) map[string]any {
	mesh, namespace := "default", ""
	if m.rarely(16) {
		mesh = "other"
	}
	if m.rarely(4) {
		namespace = pick(m.choices, namespaces...)
	} else if m.kuma && m.rarely(16) {
		namespace = resource.SystemNamespace
	}
	if m.rarely(4) {
		labels["kuma.io/zone"] = pick(m.choices, zones...)
	}
	if m.kuma {
		m.kumaLabels(kind, labels)
		if m.rarely(4) {
			name, namespace = m.synced(mesh, namespace, name, labels)
		}
	}
	identity := kind + "/" + mesh + "/" + namespace + "/" + name
	if m.taken[identity] {
		return nil
	}
	m.taken[identity] = true
	if kind != resource.DataplaneKind && !resource.IsObject(kind) {
		m.policies = append(m.policies, subjectRef{kind, name, namespace})
	}
	if m.rarely(3) {
		return kubernetes(kind, mesh, namespace, name, labels, body)
	}
	return universal(kind, mesh, namespace, name, labels, body)
}

// kumaLabels adds labels that Kuma's control planes write.
func (m *meshMaker) kumaLabels(kind string, labels map[string]any) {
	if m.intn(2) == 1 {
		labels["kuma.io/origin"] = pick(m.choices, "global", "zone")
	}
	if m.intn(2) == 1 {
		labels["kuma.io/zone"] = pick(m.choices, zones...)
	}
	if m.rarely(3) {
		labels["kuma.io/display-name"] = pick(m.choices, names...)
	}
	if kind != resource.DataplaneKind && kind != resource.MeshIdentityKind && m.intn(2) == 1 {
		labels["kuma.io/policy-role"] = pick(m.choices, "system", "producer", "consumer", "workload-owner")
	}
}

// synced returns the name and the namespace of the copy of a resource that another control
// plane sent (SPEC 17.2), and sets its labels. A copy on Kubernetes is in the namespace of
// the control plane; its label names the namespace where the resource was made.
func (m *meshMaker) synced(mesh, namespace, name string, labels map[string]any) (copied, in string) {
	labels["kuma.io/display-name"], labels["kuma.io/origin"] = name, pick(m.choices, "global", "zone")
	if namespace != "" {
		labels["k8s.kuma.io/namespace"] = namespace
		in = "kuma-system"
	}
	zone, _ := labels["kuma.io/zone"].(string)
	return resource.SyncedName(mesh, name, zone, namespace), in
}

// kubernetes returns a document in which some labels are annotations (SPEC 17.2).
func kubernetes(kind, mesh, namespace, name string, labels, spec map[string]any) map[string]any {
	if mesh != "default" {
		labels["kuma.io/mesh"] = mesh
	}
	annotations := map[string]any{}
	for _, key := range []string{"kuma.io/display-name", "kuma.io/workload", "k8s.kuma.io/service-account"} {
		if value, present := labels[key]; present {
			annotations[key] = value
			delete(labels, key)
		}
	}
	metadata := map[string]any{"name": name, "labels": labels, "annotations": annotations}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	return map[string]any{"apiVersion": "kuma.io/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}
}

func universal(kind, mesh, namespace, name string, labels, spec map[string]any) map[string]any {
	if namespace != "" && labels["k8s.kuma.io/namespace"] == nil {
		labels["k8s.kuma.io/namespace"] = namespace
	}
	return map[string]any{"type": kind, "mesh": mesh, "name": name, "labels": labels, "spec": spec}
}

// addMesh adds the document of the mesh, with the mode of its destinations or a
// certificate authority, and identities.
func (m *meshMaker) addMesh(s *Scenario) {
	document := map[string]any{"type": "Mesh", "name": "default"}
	if m.destinations && m.rarely(3) {
		document["meshServices"] = map[string]any{"mode": pick(m.choices, "Everywhere", "ReachableBackends", "Exclusive", "Disabled")}
	}
	if m.kuma && m.rarely(4) {
		document["mtls"] = map[string]any{"enabledBackend": pick(m.choices, "", "ca"), "backends": []any{map[string]any{"name": "ca", "type": "builtin"}}}
	}
	if len(document) > 2 {
		s.add(document)
	}
	if m.kuma && m.intn(2) == 1 {
		labels, spiffeID := m.selectorLabels(), map[string]any{"trustDomain": "td"}
		if m.intn(2) == 1 {
			spiffeID["path"] = "/a"
		}
		own, zoned := map[string]any{}, m.rarely(3)
		if zoned {
			labels["kuma.io/zone"] = zones[0]
			delete(spiffeID, "trustDomain")
		}
		s.add(m.resource("MeshIdentity", "i", own, map[string]any{
			"selector": map[string]any{"dataplane": map[string]any{"matchLabels": labels}},
			"spiffeID": spiffeID,
			"provider": map[string]any{"type": "Bundled", "bundled": map[string]any{"autogenerate": map[string]any{"enabled": true}}},
		}))
		if zoned && own["kuma.io/zone"] != nil { // the default has the zone, and not every zone can be part of a trust domain
			own["kuma.io/zone"] = "made-here"
		}
	}
}

// dataplane returns a sidecar, a gateway or a dataplane without either.
func (m *meshMaker) dataplane() map[string]any {
	networking := map[string]any{"address": "10.0.0.1"}
	if m.rarely(4) {
		networking["gateway"] = m.withoutTags(map[string]any{"type": pick(m.choices, "BUILTIN", "DELEGATED"), "tags": m.tags()})
	} else {
		inbounds := m.inbounds()
		if len(inbounds) > 0 {
			networking["inbound"] = inbounds
		}
		if m.kuma && (len(inbounds) == 0 && m.intn(2) == 1 || m.rarely(8)) {
			networking["listeners"] = m.zoneListeners()
		}
	}
	var outbounds []any
	for i := range m.intn(4) {
		tags := m.tags()
		if m.rarely(8) {
			delete(tags, "kuma.io/service")
		}
		outbounds = append(outbounds, map[string]any{"port": 10000 + i, "address": "127.0.0.1", "tags": tags})
	}
	if m.destinations {
		outbounds = append(outbounds, m.listedDestinations()...)
		if proxy := m.transparentProxy(); proxy != nil {
			networking["transparentProxying"] = proxy
		}
	}
	if outbounds != nil {
		networking["outbound"] = outbounds
	}
	return m.resource("Dataplane", pick(m.choices, names...), m.labels(), map[string]any{"networking": networking})
}

// labels returns labels of a dataplane.
func (m *meshMaker) labels() map[string]any {
	labels := map[string]any{}
	if m.intn(2) == 1 {
		labels["app"] = pick(m.choices, apps...)
	}
	if m.intn(2) == 1 {
		labels["tier"] = pick(m.choices, tiers...)
	}
	if m.kuma && m.rarely(4) {
		labels["kuma.io/workload"] = pick(m.choices, apps...)
	}
	if m.kuma && m.rarely(4) {
		labels["k8s.kuma.io/service-account"] = pick(m.choices, apps...)
	}
	return labels
}

// inbounds returns up to three inbounds. Rarely it repeats them, so that there are
// more inbounds than bits in a machine word.
func (m *meshMaker) inbounds() []any {
	n := m.intn(256)
	var inbounds []any
	for range n % 4 {
		inbounds = append(inbounds, m.inbound())
	}
	if n == 255 {
		inbounds = slices.Repeat(inbounds, 22)
	}
	shared := n/4%3 == 1      // inbounds with the same port are one listener (SPEC 1.3)
	for i := range inbounds { // otherwise they have different addresses
		if i > 0 && !shared {
			inbound := maps.Clone(inbounds[i].(map[string]any))
			inbound["address"] = fmt.Sprintf("10.0.1.%d", i)
			inbounds[i] = inbound
		}
	}
	return inbounds
}

// zoneListeners returns listeners of a zone proxy.
func (m *meshMaker) zoneListeners() []any {
	var listeners []any
	for i := range 1 + m.intn(3) {
		listener := map[string]any{"type": pick(m.choices, "ZoneIngress", "ZoneEgress"), "port": pick(m.choices, 80, 81), "address": fmt.Sprintf("10.0.2.%d", i)}
		if m.intn(2) == 1 {
			listener["name"] = pick(m.choices, sections...)
		}
		if m.rarely(4) {
			listener["tags"] = m.tags()
		}
		listeners = append(listeners, listener)
	}
	return listeners
}

func (m *meshMaker) inbound() map[string]any {
	inbound := m.withoutTags(map[string]any{"port": pick(m.choices, 80, 81), "tags": m.tags()})
	if m.intn(2) == 1 {
		inbound["name"] = pick(m.choices, sections...)
	}
	if m.intn(2) == 1 {
		inbound["protocol"] = pick(m.choices, "http", "tcp", "grpc", "http2")
	}
	if m.rarely(8) { // selected like any other (SPEC 1.3)
		inbound["state"] = pick(m.choices, "NotReady", "Ignored", "Ready")
	}
	if m.rarely(8) {
		inbound["health"] = map[string]any{"ready": pick(m.choices, false, true)}
	}
	return inbound
}

// withoutTags removes the tags of some inbounds and gateways, which belong to no service
// (SPEC 1.3).
func (m *meshMaker) withoutTags(part map[string]any) map[string]any {
	if m.rarely(12) {
		delete(part, "tags")
	}
	return part
}

// tags returns the tags of an inbound, an outbound or a gateway.
func (m *meshMaker) tags() map[string]any {
	tags := map[string]any{"kuma.io/service": pick(m.choices, services...)}
	if m.intn(2) == 1 {
		tags["version"] = pick(m.choices, versions...)
	}
	if m.rarely(4) {
		tags["team"] = pick(m.choices, apps...)
	}
	if m.rarely(6) {
		tags["kuma.io/zone"] = "east"
	}
	if m.rarely(4) {
		tags["kuma.io/protocol"] = pick(m.choices, "http", "http2", "tcp")
	}
	return tags
}
