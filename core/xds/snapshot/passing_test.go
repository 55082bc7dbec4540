package snapshot_test

import (
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// Connections to addresses that are no outbounds have the logs of the items for the whole mesh,
// of a dataplane without outbounds too. A snapshot that follows edits has the last ones.
func TestPassthroughIsLogged(t *testing.T) {
	const (
		dataplane = "{type: Dataplane, name: web, networking: {address: 10.0.0.1, transparentProxying: {redirectPortOutbound: 15001}, inbound: [{port: 80, tags: {kuma.io/service: web}}]}}"
		service   = "{type: MeshService, name: api, spec: {ports: [{port: 80}]}, status: {vips: [{ip: 241.0.0.1}]}}"
		collector = "{type: MeshOpenTelemetryBackend, name: otel, labels: {team: infra}, spec: {endpoint: {address: 10.9.9.9}}}"
	)
	log := func(name, to, backend string) string {
		return "{type: MeshAccessLog, name: " + name + ", spec: {to: [{targetRef: {" + to + "}, default: {backends: [{" + backend + "}]}}]}}"
	}
	file := func(path string) string { return "type: File, file: {path: /logs/" + path + "}" }
	for _, s := range []semantics.Semantics{semantics.TargetRef, semantics.Kuma, semantics.Kuma3} {
		f := follow(t, s)
		for _, step := range []struct{ name, edit, want string }{
			{"no policy", dataplane, ""},
			{"the whole mesh", log("a", "kind: Mesh", file("first")), "/logs/first"},
			{"an edit", log("a", "kind: Mesh", file("second")), "/logs/second"},
			{"an item for a service", service + "\n---\n" + log("b", "kind: MeshService, labels: {kuma.io/display-name: api}", file("service")), "/logs/second"},
			{"a collector that is absent", log("a", "kind: Mesh", "type: OpenTelemetry, openTelemetry: {backendRef: {kind: MeshOpenTelemetryBackend, labels: {team: infra}}}"), ""},
			{"the collector appears", collector, "collector/kri_motb_default___otel_"},
			{"none", "{type: MeshAccessLog, name: a, spec: {to: [{targetRef: {kind: Mesh}, default: {backends: []}}]}}", ""},
		} {
			snapshot := snapshotOf(f.apply(step.edit), "web")
			for _, r := range snapshot.Resources(wire.ListenerType) {
				body := string(r.Body)
				if r.Name != "passthrough/outbound" {
					continue
				}
				if logs := strings.Count(body, "envoy.access_loggers"); (logs > 0) != (step.want != "") || !strings.Contains(body, step.want) {
					t.Errorf("%s, %s: %q", s, step.name, body)
				}
				if step.want != "" && len(snapshot.ShapedBy(r)) == 0 {
					t.Errorf("%s, %s: no policy shapes the listener", s, step.name)
				}
			}
		}
	}
}
