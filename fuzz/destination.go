package fuzz

import (
	"fmt"
	"maps"
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
)

// The alphabets of destinations: names, ports and labels that several
// destinations share.
var (
	destinationKinds = []string{"MeshService", "MeshService", "MeshExternalService", "MeshMultiZoneService"}
	destinationNames = []string{"web", "api"} // also the names of services by tags
	destinationPorts = []int{80, 81}
	portNames        = []string{"http", "80", "81"} // a name may be the number of another port
)

// backends are the destinations of routes: services by tags, and destinations by name and by
// labels. Some of these exist.
var backends = []map[string]any{
	{"kind": "MeshService", "name": "web"},
	{"kind": "MeshService", "name": "api", "weight": 0},
	{"kind": "MeshServiceSubset", "name": "web", "tags": map[string]any{"version": "v1"}, "weight": 2},
	{"kind": "MeshService", "name": "web", "port": 80},
	{"kind": "MeshService", "name": "api", "namespace": "ns", "port": 81, "weight": 3},
	{"kind": "MeshService", "labels": map[string]any{"kuma.io/display-name": "web"}, "port": 80},
	{"kind": "MeshService", "labels": map[string]any{"app": "x"}},
	{"kind": "MeshExternalService", "name": "api"},
	{"kind": "MeshExternalService", "labels": map[string]any{"kuma.io/display-name": "web"}, "weight": 0},
	{"kind": "MeshMultiZoneService", "name": "web", "port": 80},
	{"kind": "MeshMultiZoneService", "labels": map[string]any{"tier": "x"}, "port": 81},
	{"kind": "MeshService", "name": "absent", "namespace": "ns2", "port": 80},
}

// The fields that a control plane, or the author of a destination, gives it in addition to
// its ports: which dataplanes it selects, their SPIFFE IDs, and how others reach it (SPEC
// 17.4).
var (
	serviceShapes = []map[string]any{
		{},
		{"selector": map[string]any{"dataplaneTags": map[string]any{"kuma.io/service": "web"}}, "state": "Available"},
		{"selector": map[string]any{"dataplaneLabels": map[string]any{"matchLabels": map[string]any{"app": "x"}}}, "state": "Available",
			"identities": []any{map[string]any{"type": "SpiffeID", "value": "spiffe://td/a"}}},
		{"selector": map[string]any{"dataplaneLabels": map[string]any{"matchLabels": map[string]any{}}}, "state": "Available",
			"identities": []any{map[string]any{"type": "ServiceTag", "value": "web"}}},
		{"selector": map[string]any{"dataplaneRef": map[string]any{"name": "a"}}, "state": "Unavailable"},
		{"selector": map[string]any{"dataplaneTags": map[string]any{"kuma.io/service": "api", "version": "v1"}},
			"identities": []any{map[string]any{"type": "SpiffeID", "value": "spiffe://td/b"}, map[string]any{"type": "ServiceTag", "value": "api"}}},
	}
	portShapes = []map[string]any{
		{},
		{"appProtocol": "http"},
		{"appProtocol": "grpc", "targetPort": "http"},
		{"appProtocol": "http2", "targetPort": 80},
		{"appProtocol": "tcp", "targetPort": 81},
	}
	externalEndpoints = [][]any{
		nil,
		{map[string]any{"address": "192.0.2.1", "port": 443}},
		{map[string]any{"address": "out.example", "port": 80}, map[string]any{"address": "192.0.2.2", "port": 81, "priority": 1}},
	}
)

// addDestinations adds a few destinations.
func (m *meshMaker) addDestinations(s *Scenario) {
	for i := range 1 + m.intn(5) {
		s.add(m.destination(i))
	}
	if m.kuma {
		m.addZones(s)
	}
}

// addZones adds addresses of zones, zone proxies of Kuma 2, and a Secret of external
// services (SPEC 17.4).
func (m *meshMaker) addZones(s *Scenario) {
	address := func() string { return fmt.Sprintf("10.9.0.%d", 1+m.intn(3)) }
	if m.rarely(3) {
		document := m.resource("MeshZoneAddress", pick(m.choices, names...), map[string]any{}, map[string]any{"address": address(), "port": 10001})
		if document != nil {
			labelsOf(document)["kuma.io/zone"] = pick(m.choices, zones...)
		}
		s.add(document)
	}
	if m.rarely(3) {
		s.add(map[string]any{"type": "ZoneIngress", "name": "i", "zone": pick(m.choices, zones...), "networking": map[string]any{
			"address": "10.0.0.8", "port": 10001, "advertisedAddress": address(), "advertisedPort": 10001,
		}})
	}
	if m.rarely(3) {
		s.add(map[string]any{"type": "ZoneEgress", "name": "e", "zone": pick(m.choices, zones...), "networking": map[string]any{"address": address(), "port": 10002}})
	}
	if m.rarely(3) {
		s.add(map[string]any{"type": "Secret", "mesh": "default", "name": "ca", "data": pick(m.choices, "Y2E=", "Y2I=")})
	}
}

// labelsOf returns the labels of a document in either format.
func labelsOf(document map[string]any) map[string]any {
	if metadata, kubernetes := document["metadata"].(map[string]any); kubernetes {
		document = metadata
	}
	return document["labels"].(map[string]any)
}

// destination returns a destination, usually with virtual addresses.
func (m *meshMaker) destination(number int) map[string]any {
	kind := pick(m.choices, destinationKinds...)
	spec := map[string]any{"ports": m.servicePorts()}
	var status map[string]any
	switch kind {
	case "MeshService":
		maps.Copy(spec, pick(m.choices, serviceShapes...))
		for _, port := range spec["ports"].([]any) {
			maps.Copy(port.(map[string]any), pick(m.choices, portShapes...))
		}
		if m.rarely(4) {
			status = map[string]any{"tls": map[string]any{"status": pick(m.choices, "Ready", "NotReady")}}
		}
	case "MeshExternalService":
		spec = map[string]any{"match": map[string]any{"port": pick(m.choices, destinationPorts...), "protocol": pick(m.choices, "tcp", "http", "grpc")}}
		if endpoints := pick(m.choices, externalEndpoints...); endpoints != nil {
			spec["endpoints"] = endpoints
		}
		if m.kuma && m.rarely(3) {
			spec["tls"] = map[string]any{"enabled": true, "verification": map[string]any{"caCert": pick(m.choices,
				map[string]any{"secret": "ca"}, map[string]any{"type": "Secret", "secretRef": map[string]any{"kind": "Secret", "name": "ca"}})}}
		}
	case "MeshMultiZoneService":
		spec["selector"] = map[string]any{"meshService": map[string]any{"matchLabels": map[string]any{"app": "x"}}}
		if m.intn(2) == 1 {
			status = map[string]any{"meshServices": []any{
				map[string]any{"mesh": "default", "name": pick(m.choices, destinationNames...), "namespace": pick(m.choices, "", "ns"), "zone": pick(m.choices, "", zones[0], zones[1])},
			}}
		}
	}
	document := m.resource(kind, pick(m.choices, destinationNames...), m.labels(), spec)
	if document == nil {
		return nil
	}
	if !m.rarely(6) {
		address := fmt.Sprintf("241.0.0.%d", number)
		if m.rarely(6) { // like the pod of a headless service
			address = "10.0.0.1"
		}
		if status == nil {
			status = map[string]any{}
		}
		if kind == "MeshExternalService" {
			status["vip"] = map[string]any{"ip": address}
		} else {
			status["vips"] = []any{map[string]any{"ip": address}}
		}
	}
	if status != nil {
		document["status"] = status
	}
	m.setCreated(document)
	return document
}

// servicePorts returns one or two ports, some with names.
func (m *meshMaker) servicePorts() []any {
	var ports []any
	for i := range 1 + m.intn(2) {
		port := map[string]any{"port": destinationPorts[i]}
		if m.intn(2) == 1 {
			port["name"] = portNames[(i+m.intn(2))%len(portNames)]
		}
		ports = append(ports, port)
	}
	if len(ports) == 2 {
		if second := ports[1].(map[string]any); second["name"] != nil && second["name"] == ports[0].(map[string]any)["name"] {
			delete(second, "name")
		}
	}
	return ports
}

// destinationRef returns the name or the labels of a reference, and rarely a namespace.
func (m *meshMaker) destinationRef() map[string]any {
	if m.intn(2) == 1 {
		labels := m.selectorLabels()
		if m.rarely(3) {
			labels["kuma.io/display-name"] = pick(m.choices, slices.Concat(destinationNames, names)...)
		}
		if len(labels) > 0 {
			return map[string]any{"labels": labels}
		}
	}
	ref := map[string]any{"name": pick(m.choices, slices.Concat(destinationNames, destinationNames, names)...)}
	m.namespace(ref)
	return ref
}

func (m *meshMaker) fromRef(kinds resource.TargetKinds) map[string]any {
	return m.targetRef(kinds, false)
}

// toRef returns the targetRef of a `to` item. If there are destinations, half of the items
// refer to destinations, or to routes by labels.
func (m *meshMaker) toRef(kinds resource.TargetKinds) map[string]any {
	if !m.destinations || m.intn(2) == 0 {
		return m.targetRef(kinds, false)
	}
	kind := pick(m.choices, append(slices.Clone(destinationKinds), "MeshHTTPRoute")...)
	switch {
	case !slices.Contains(kinds.Names(), kind):
		return m.targetRef(kinds, false)
	case kind == "MeshHTTPRoute":
		return map[string]any{"kind": kind, "labels": map[string]any{"kuma.io/display-name": pick(m.choices, routes...)}}
	case kind == "MeshService" && m.rarely(4):
		return map[string]any{"kind": kind, "name": pick(m.choices, "web_ns_svc", "web_ns_svc_80", "api_ns2_svc_81")}
	}
	ref := m.destinationRef()
	ref["kind"] = kind
	if kind != "MeshExternalService" && m.rarely(3) {
		ref["sectionName"] = pick(m.choices, portNames...)
	}
	return ref
}

// listedDestinations returns outbounds with references.
func (m *meshMaker) listedDestinations() []any {
	var outbounds []any
	for i := range m.intn(3) {
		ref := m.backend()
		if ref["port"] == nil {
			ref["port"] = pick(m.choices, destinationPorts...)
		}
		outbounds = append(outbounds, map[string]any{"port": 11000 + i, "address": "127.0.0.1", "backendRef": ref})
	}
	return outbounds
}

// backend returns a reference in a dataplane.
func (m *meshMaker) backend() map[string]any {
	ref := m.destinationRef()
	ref["kind"] = pick(m.choices, destinationKinds...)
	if m.intn(2) == 1 {
		ref["port"] = pick(m.choices, destinationPorts...)
	}
	return ref
}

// transparentProxy returns the settings of a transparent proxy, or nil.
func (m *meshMaker) transparentProxy() map[string]any {
	if m.intn(3) == 0 {
		return nil
	}
	proxy := map[string]any{"redirectPortInbound": 15006, "redirectPortOutbound": 15001}
	switch m.intn(4) {
	case 1:
		proxy["reachableServices"] = []any{"web"}
	case 2:
		refs := []any{}
		for range m.intn(3) {
			refs = append(refs, m.backend())
		}
		proxy["reachableBackends"] = map[string]any{"refs": refs}
	}
	return proxy
}
