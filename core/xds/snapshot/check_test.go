package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/meshmatch/meshmatch/core/inspect/check"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
)

// TestIdentityIsReportedOnce: a dataplane without the identity that it should have has a
// warning in its snapshot, for each client. Package inspect reports it with its position, so
// Check does not.
func TestIdentityIsReportedOnce(t *testing.T) {
	state := stateOf(t, `
{type: Dataplane, name: web, networking: {address: 10.0.0.1, inbound: [{port: 80, protocol: grpc, tags: {kuma.io/service: web}}]}}
---
{type: MeshIdentity, name: all, spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: "{{ label \"team\" }}.mesh"}, provider: {type: Spire}}}
`)
	d := state.View().Dataplane(resource.ID{Kind: resource.DataplaneKind, Mesh: "default", Name: "web"})
	for _, client := range []xds.ClientType{xds.Envoy, xds.ProxylessGRPC} {
		if w := state.Snapshot(d, client).Warnings(); !slices.ContainsFunc(w, func(w xds.Warning) bool { return w.Inspected }) {
			t.Errorf("client type %d: no warning of the identity: %v", client, w)
		}
	}
	if w, err := state.Check(t.Context(), d); err != nil || len(w) != 0 {
		t.Errorf("Check has %v, %v", w, err)
	}
}

// A check whose context ends, before it begins or while it builds, returns the cause and
// builds no more than the snapshots that were in progress.
func TestCheckIsCancelled(t *testing.T) {
	const dataplanes = 1000
	var mesh strings.Builder
	mesh.WriteString("{type: MeshTimeout, name: all, spec: {to: [{default: {idleTimeout: 1s}}]}}\n")
	for i := range dataplanes {
		fmt.Fprintf(&mesh, "---\n{type: Dataplane, name: d%d, networking: {address: 10.0.0.1, outbound: [{port: %d, tags: {kuma.io/service: s%d}}]}}\n", i, i+1, i)
	}
	view := stateOf(t, mesh.String()).View()
	stopped := errors.New("stopped")
	var built atomic.Int64
	check := func(stopAfter int64) error {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		if stopAfter == 0 {
			cancel(stopped)
		}
		built.Store(0)
		own := xds.Translator{Kind: "MeshTimeout", Outbound: func(*xds.Outbound, *rules.Effective) {
			if built.Add(1) == stopAfter {
				cancel(stopped)
			}
		}}
		_, err := snapshot.NewBuilder([]xds.Translator{own}, snapshot.Options{}).At(view).Check(ctx)
		return err
	}
	if err := check(-1); err != nil || built.Load() != dataplanes {
		t.Errorf("not cancelled: %v after %d snapshots, want %d", err, built.Load(), dataplanes)
	}
	if err := check(0); err != stopped || built.Load() != 0 {
		t.Errorf("cancelled before: %v after %d snapshots", err, built.Load())
	}
	if err, most := check(3), int64(3+runtime.GOMAXPROCS(0)); err != stopped || built.Load() > most {
		t.Errorf("cancelled: %v after %d snapshots, want at most %d", err, built.Load(), most)
	}
}

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
				all := check.New(state.View(), &resource.Set{}).Warnings
				for _, w := range warningsOf(t, state) {
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
