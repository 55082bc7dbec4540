package server_test

import (
	"testing"
	"testing/synctest"

	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// TestModels has models of Envoys and gRPC clients that follow random edits at two replicas, and
// move between them, so that many edits come while they are away. Each edit is warm within 1 s: no
// cluster becomes active without its endpoints, nothing is sent again, and in the end each model
// holds what a new one would get (SPEC 12.3).
func TestModels(t *testing.T) {
	xdstest.Seeds(t, 50, func(t *testing.T, seed uint64) {
		source := xdstest.NewSource(xdstest.NewState())
		a, b := start(t, server.Options{Source: source, Drain: -1}), start(t, server.Options{Source: source, Drain: -1})
		f := xdstest.NewFleet(t, seed, source, a.conn, b.conn)
		for i := range 60 {
			if f.Step(t); i%3 == 0 {
				f.CheckWarm(t)
			}
		}
		f.CheckConverged(t)
	})
}

// A server restarts after an edit of a cluster, and 100 Envoys come back: none lacks endpoints, and
// each gets one response of each type.
func TestRestartWithChangedCluster(t *testing.T) {
	for _, p := range xdstest.Programs() {
		if p.GRPC {
			continue
		}
		t.Run(p.Name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { restartWithChangedCluster(t, p) }) })
	}
}

func restartWithChangedCluster(t *testing.T, p xdstest.Program) {
	state := xdstest.NewState()
	serve := func(content string) *wire.Snapshot {
		return xdstest.Snapshot(xdstest.Resource(wire.ClusterType, "a", content), xdstest.Resource(wire.ClusterType, "b", "1"),
			xdstest.Resource(wire.EndpointType, "a", "1"), xdstest.Resource(wire.EndpointType, "b", "1"))
	}
	state.Nodes["n"] = serve("1")
	source := xdstest.NewSource(state)
	before := start(t, server.Options{Source: source})
	var envoys []*xdstest.Model
	for i := range 100 {
		e := xdstest.NewModel(p, "n", uint64(i))
		must(t, e.Connect(before.conn))
		t.Cleanup(e.Close)
		envoys = append(envoys, e)
	}
	synctest.Wait()
	for _, e := range envoys {
		e.Close()
	}
	source.Edit(func(s *xdstest.State) { s.Nodes["n"] = serve("2") })
	after := start(t, server.Options{Source: source})
	for _, e := range envoys {
		must(t, e.Connect(after.conn))
	}
	synctest.Wait()
	for i, e := range envoys {
		for _, k := range []wire.Type{wire.ClusterType, wire.EndpointType} {
			if n := e.Responses(k); n != 1 {
				t.Errorf("envoy %d got %d responses of %s", i, n, k)
			}
		}
		for _, d := range append(e.Differences(source.State().Nodes["n"]), e.Problems()...) {
			t.Errorf("envoy %d: %s", i, d)
		}
		if w := e.Warming(); len(w) > 0 {
			t.Errorf("envoy %d warms %v", i, w)
		}
	}
}
