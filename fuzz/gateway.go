package fuzz

import (
	"encoding/json"
	"fmt"
	"maps"
)

// addGateways adds MeshGateways for builtin gateways, their routes, and the virtual
// addresses of services (SPEC 17.3).
func (m *meshMaker) addGateways(s *Scenario) {
	for range m.intn(3) {
		listeners := []any{}
		for i := range 1 + m.intn(3) {
			listener := map[string]any{"port": 80 + i, "protocol": "HTTP", "tags": m.listenerTags()}
			if m.intn(2) == 1 {
				listener["hostname"] = pick(m.choices, "a.example", "*.example", "*")
			}
			listeners = append(listeners, listener)
		}
		gateway := map[string]any{"selectors": m.gatewaySelectors(), "conf": map[string]any{"listeners": listeners}}
		if m.rarely(3) {
			gateway["tags"] = m.listenerTags()
		}
		document := topLevel(m.resource("MeshGateway", pick(m.choices, services...), map[string]any{}, gateway))
		m.setCreated(document)
		s.add(document)
	}
	if m.rarely(3) {
		destination := map[string]any{"kuma.io/service": "web"}
		route := map[string]any{"selectors": m.gatewaySelectors(), "conf": map[string]any{"tcp": map[string]any{
			"rules": []any{map[string]any{"backends": []any{map[string]any{"weight": 1, "destination": destination}}}},
		}}}
		s.add(topLevel(m.resource("MeshGatewayRoute", pick(m.choices, names...), map[string]any{}, route)))
	}
	if m.rarely(3) {
		s.add(map[string]any{"type": "Config", "name": "kuma-default-dns-vips", "config": m.virtualHosts()})
	}
}

// topLevel moves the fields of the spec to the top, where a universal document of these kinds
// has them.
func topLevel(document map[string]any) map[string]any {
	if spec, ok := document["spec"].(map[string]any); ok && document["type"] != nil {
		delete(document, "spec")
		maps.Copy(document, spec)
	}
	return document
}

// setCreated gives half of the documents a time of creation.
func (m *meshMaker) setCreated(document map[string]any) {
	if document == nil || m.intn(2) == 0 {
		return
	}
	created := pick(m.choices, "2024-01-02T00:00:00Z", "2024-01-01T00:00:00Z")
	if metadata, kubernetes := document["metadata"].(map[string]any); kubernetes {
		metadata["creationTimestamp"] = created
	} else {
		document["creationTime"] = created
	}
}

func (m *meshMaker) gatewaySelectors() []any {
	var selectors []any
	for range 1 + m.intn(2) {
		match := m.selectorTags()
		if m.intn(2) == 1 || len(match) == 0 {
			match["kuma.io/service"] = pick(m.choices, "web", "api", "*")
		}
		selectors = append(selectors, map[string]any{"match": match})
	}
	return selectors
}

// listenerTags returns tags that selectors require.
func (m *meshMaker) listenerTags() map[string]any {
	tags := map[string]any{}
	if m.intn(2) == 1 {
		tags["version"] = pick(m.choices, versions...)
	}
	if m.rarely(3) {
		tags["team"] = pick(m.choices, apps...)
	}
	return tags
}

// virtualHosts returns the text of a Config of virtual addresses. Some of them are addresses
// of dataplanes.
func (m *meshMaker) virtualHosts() string {
	hosts := map[string]any{}
	for i := range 1 + m.intn(4) {
		key := fmt.Sprintf("%d:%s", m.intn(3), pick(m.choices, services...))
		host := map[string]any{"address": pick(m.choices, fmt.Sprintf("240.0.0.%d", i), fmt.Sprintf("240.0.0.%d", i), "10.0.0.1", "")}
		outbounds := []any{}
		for range m.intn(3) {
			tags := map[string]any{}
			maps.Copy(tags, m.tags())
			outbounds = append(outbounds, map[string]any{"Port": pick(m.choices, 80, 81, 8080), "TagSet": tags, "Origin": "service"})
		}
		host["outbounds"] = outbounds
		hosts[key] = host
	}
	text, err := json.Marshal(hosts)
	if err != nil {
		panic(fmt.Sprintf("fuzz: virtual hosts have no text: %v", err)) // they are maps and scalars
	}
	return string(text)
}
