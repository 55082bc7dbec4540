package collector_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/collector"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

const backends = `
{type: MeshOpenTelemetryBackend, name: young, labels: {team: infra}, creationTime: "2026-02-02T00:00:00Z"}
---
{type: MeshOpenTelemetryBackend, name: old, labels: {team: infra, zone: east}, creationTime: "2026-01-01T00:00:00Z"}
---
{type: MeshOpenTelemetryBackend, name: copy-x4w, labels: {kuma.io/display-name: shown}, creationTime: "2026-03-03T00:00:00Z"}
---
{type: MeshOpenTelemetryBackend, name: b-of-one-time, labels: {twins: "true"}}
---
{type: MeshOpenTelemetryBackend, name: a-of-one-time, labels: {twins: "true"}}
`

func objects(t *testing.T, text string) []resource.Object {
	t.Helper()
	set := resourcetest.Decode(t, text)
	return set.Objects
}

// A reference finds the oldest backend with its labels, or one by its name. What a name is
// depends on the semantics.
func TestFind(t *testing.T) {
	all := objects(t, backends)
	name := func(name string) *conf.CollectorRef { return &conf.CollectorRef{Name: &name} }
	labels := func(key, value string) *conf.CollectorRef {
		return &conf.CollectorRef{Labels: map[string]string{key: value}}
	}
	for what, test := range map[string]struct {
		ref                    *conf.CollectorRef
		targetRef, kuma, kuma3 string
	}{
		"the oldest":                {labels("team", "infra"), "old", "old", "old"},
		"the first of equal age":    {labels("twins", "true"), "a-of-one-time", "a-of-one-time", "a-of-one-time"},
		"a display name as a label": {labels("kuma.io/display-name", "shown"), "copy-x4w", "copy-x4w", "copy-x4w"},
		"a name as a label":         {labels("kuma.io/display-name", "young"), "young", "young", "young"},
		"a name":                    {name("young"), "young", "young", ""},
		"a stored name":             {name("copy-x4w"), "copy-x4w", "", ""},
		"a display name":            {name("shown"), "", "copy-x4w", ""},
		"other labels":              {labels("team", "shop"), "", "", ""},
	} {
		for s, want := range map[semantics.Semantics]string{semantics.TargetRef: test.targetRef, semantics.Kuma: test.kuma, semantics.Kuma3: test.kuma3} {
			found, ok := collector.New(s, all).Find(test.ref)
			got := ""
			if ok {
				got = found.Backend.Name
			}
			if got != want {
				t.Errorf("%s by %s: found %q, want %q", what, s, got, want)
			}
		}
	}
	if _, ok := collector.New(semantics.Kuma, nil).Find(labels("team", "infra")); ok {
		t.Error("a mesh without backends has a collector")
	}
}

// What an endpoint lacks has a default. Only HTTP has TLS, at port 443, and a path.
func TestOf(t *testing.T) {
	for spec, want := range map[string]struct{ endpoint, traces string }{
		`{}`:                               {"127.0.0.1:4317", "http://127.0.0.1:4317/v1/traces"},
		`{endpoint: {address: c.example}}`: {"c.example:4317", "http://c.example:4317/v1/traces"},
		`{endpoint: {address: c.example, port: 443}, protocol: grpc}`:           {"c.example:443", "http://c.example:443/v1/traces"},
		`{endpoint: {port: 4318}, protocol: http}`:                              {"http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"},
		`{endpoint: {address: c.example, port: 443}, protocol: http}`:           {"https://c.example:443", "https://c.example:443/v1/traces"},
		`{endpoint: {address: "::1", port: 80, path: /p/}, protocol: http}`:     {"http://[::1]:80/p", "http://[::1]:80/p/v1/traces"},
		`{endpoint: {address: 10.0.0.1, port: 80, path: /p/q}, protocol: http}`: {"http://10.0.0.1:80/p/q", "http://10.0.0.1:80/p/q/v1/traces"},
	} {
		c := collector.ForBackend(objects(t, "{type: MeshOpenTelemetryBackend, name: otel, spec: "+spec+"}")[0].(*resource.MeshOpenTelemetryBackend))
		if c.Endpoint() != want.endpoint || c.URL(collector.TracesPath) != want.traces {
			t.Errorf("%s: got %s and %s", spec, c.Endpoint(), c.URL(collector.TracesPath))
		}
	}
}
