package proxied_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/check"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// httpFields is a `to` conf with all HTTP fields of each kind that has such fields.
var httpFields = map[string]string{
	"MeshCircuitBreaker": "{connectionLimits: {maxRequests: 3, maxRetries: 2}}",
	"MeshHealthCheck":    "{http: {path: /}, grpc: {serviceName: db}}",
	"MeshRetry":          "{http: {numRetries: 3}, grpc: {numRetries: 2}}",
	"MeshTimeout":        "{http: {requestTimeout: 1s}}",
}

// An HTTP field without effect on a TCP service has one warning, of package inspect or of
// the snapshots, whatever makes the service TCP. An item for the whole mesh has a warning
// only if no outbound can be HTTP.
func TestHTTPOnTCPIsReportedOnce(t *testing.T) {
	for name, mesh := range map[string]struct {
		outbound, endpoints string
		ofMesh              int // warnings of each field of an item for the whole mesh
	}{
		"TCP endpoints":   {"{kuma.io/service: db}", "{port: 1, protocol: tcp, tags: {kuma.io/service: db}}", 1},
		"a TCP outbound":  {"{kuma.io/service: db, kuma.io/protocol: tcp}", "{port: 1, protocol: http, tags: {kuma.io/service: db}}", 1},
		"mixed endpoints": {"{kuma.io/service: db}", "{port: 1, protocol: tcp, tags: {kuma.io/service: db}}, {port: 2, protocol: http, tags: {kuma.io/service: db}}", 0},
		"no endpoints":    {"{kuma.io/service: db}", "{port: 1, protocol: tcp, tags: {kuma.io/service: other}}", 0},
		"HTTP endpoints":  {"{kuma.io/service: db, kuma.io/protocol: http}", "{port: 1, protocol: http, tags: {kuma.io/service: db}}", 0},
	} {
		for _, kind := range kinds.All().All() {
			if kind.To == nil || len(kind.To.HTTPFields) == 0 {
				continue
			}
			conf, found := httpFields[kind.Name]
			if !found {
				t.Fatalf("%s has HTTP fields; add a conf", kind.Name)
			}
			for target, want := range map[string]int{"{kind: MeshService, name: db}": 1, "{kind: Mesh}": mesh.ofMesh} {
				if name == "HTTP endpoints" {
					want = 0
				}
				state := stateOf(t, fmt.Sprintf(`
{type: Dataplane, name: web, networking: {address: 10.0.0.1, outbound: [{port: 1, tags: %s}]}}
---
{type: Dataplane, name: db, networking: {address: 10.0.0.2, inbound: [%s]}}
---
{type: %s, name: p, spec: {to: [{targetRef: %s, default: %s}]}}
`, mesh.outbound, mesh.endpoints, kind.Name, target, conf))
				warnings, err := state.Check(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				all := check.New(state.View(), &resource.Set{}).Warnings
				for _, w := range warnings {
					all = append(all, w.Diagnostic())
				}
				for _, field := range kind.To.HTTPFields {
					path, got := "spec.to[0].default"+strings.ReplaceAll(field, "/", "."), 0
					for _, d := range all {
						if d.Path == path && !strings.Contains(d.What, "protocol of the service is http") {
							got++
						}
					}
					if got != want {
						t.Errorf("%s, %s to %s: %d warnings of %s, want %d: %v", name, kind.Name, target, got, field, want, all)
					}
				}
			}
		}
	}
}
