package naive

import (
	"encoding/json"
	"fmt"

	"github.com/meshmatch/meshmatch/core/resource"
)

// addCollectors adds the collectors to which a merged conf refers to an answer (SPEC 17.3).
func (m *mesh) addCollectors(answer map[string]any, merged any) {
	text, _ := json.Marshal(merged)
	var conf struct {
		Backends []struct {
			OpenTelemetry struct {
				BackendRef *struct {
					Name   *string
					Labels map[string]string
				}
			}
		}
	}
	if json.Unmarshal(text, &conf) != nil {
		return // the conf of another kind
	}
	collectors := map[string]any{}
	for i, backend := range conf.Backends {
		ref := backend.OpenTelemetry.BackendRef
		if ref == nil {
			continue
		}
		var found *resource.MeshOpenTelemetryBackend
		for _, c := range m.collectors {
			finds := ref.Name != nil && !m.kuma3() && m.collectorName(c) == *ref.Name
			if ref.Name == nil {
				finds = m.finds(nil, c.Kind, "", "", resource.NewTags(ref.Labels), &c.Meta)
			}
			if finds && (found == nil || c.CreationTime.Before(found.CreationTime)) {
				found = c
			}
		}
		pointer := fmt.Sprintf("/backends/%d/openTelemetry/backendRef", i)
		if collectors[pointer] = nil; found != nil {
			collectors[pointer] = m.describeCollector(found)
		}
	}
	if len(collectors) > 0 {
		answer["collectors"] = collectors
	}
}

// collectorName returns the name by which policies refer to a backend.
func (m *mesh) collectorName(c *resource.MeshOpenTelemetryBackend) string {
	if m.kumaLike() {
		return displayName(&c.Meta)
	}
	return c.Name
}

// describeCollector returns the answer about a backend.
func (m *mesh) describeCollector(c *resource.MeshOpenTelemetryBackend) map[string]any {
	address, port, path := "127.0.0.1", uint32(4317), ""
	if e := c.Spec.Endpoint; e != nil {
		if e.Address != nil {
			address = *e.Address
		}
		if e.Port != nil {
			port = *e.Port
		}
		path = e.Path
	}
	endpoint := fmt.Sprintf("%s:%d", address, port)
	if c.Spec.Protocol != "http" {
		return map[string]any{"kri": m.kri("motb", &c.Meta), "protocol": "grpc", "endpoint": endpoint}
	}
	scheme := "http://"
	if port == 443 {
		scheme = "https://"
	}
	return map[string]any{"kri": m.kri("motb", &c.Meta), "protocol": "http", "endpoint": scheme + endpoint + path}
}
