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

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
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
		own := xds.Translator{Kind: "MeshTimeout", Outbound: func(*xds.Outbound, *results.Effective) {
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
