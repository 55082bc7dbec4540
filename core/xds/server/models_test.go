package server_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// Models of Envoys follow random edits of clusters and endpoints at two replicas, and move between
// them, so that many edits come while they are away. Each edit is warm within 1 s: no cluster ever
// becomes active without its endpoints, and all of them hold the last state.
func TestEnvoyModels(t *testing.T) {
	xdstest.Seeds(t, 50, func(t *testing.T, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 3))
		names := []string{"a", "b", "c", "d"}
		snapshot := func() *wire.Snapshot {
			var list []*wire.Resource
			for _, name := range names {
				if random.IntN(4) > 0 {
					list = append(list, xdstest.Resource(wire.ClusterType, name, fmt.Sprint(random.IntN(3))),
						xdstest.Resource(wire.EndpointType, name, fmt.Sprint(random.IntN(2))))
				}
			}
			return xdstest.Snapshot(list...)
		}
		state := xdstest.NewState()
		state.Nodes["n0"], state.Nodes["n1"] = snapshot(), snapshot()
		source := xdstest.NewSource(state)
		var replicas [2]*running
		for i := range replicas {
			replicas[i] = start(t, server.Options{Source: source})
		}
		var envoys []*envoyModel
		for i := range 6 {
			e := newEnvoyModel(fmt.Sprint("n", i%2))
			must(t, e.connect(replicas[0].conn))
			t.Cleanup(e.close)
			envoys = append(envoys, e)
		}
		for range 60 {
			switch e := envoys[random.IntN(len(envoys))]; random.IntN(4) {
			case 0, 1:
				source.Edit(func(s *xdstest.State) { s.Nodes[fmt.Sprint("n", random.IntN(2))] = snapshot() })
			case 2: // away while the state changes
				e.close()
				source.Edit(func(s *xdstest.State) { s.Nodes[e.id] = snapshot() })
				must(t, e.connect(replicas[random.IntN(2)].conn))
			default:
				time.Sleep(time.Duration(random.IntN(3000)) * time.Millisecond)
			}
			if random.IntN(3) == 0 {
				time.Sleep(time.Second)
				synctest.Wait()
				for i, e := range envoys {
					if !e.isWarm() {
						t.Errorf("1 s later, envoy %d still warms %v", i, slowest(e))
					}
				}
			}
		}
		time.Sleep(20 * time.Second)
		synctest.Wait()
		for i, e := range envoys {
			compareModel(t, i, e, source.State().Nodes[e.id])
		}
	})
}

func slowest(e *envoyModel) map[string]time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.warming)
}

func compareModel(t *testing.T, i int, e *envoyModel, snapshot *wire.Snapshot) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for k, held := range map[wire.Type]map[string]string{wire.ClusterType: e.clusters, wire.EndpointType: e.endpoints} {
		want := map[string]string{}
		for _, r := range snapshot[k].Listed {
			want[r.Name] = r.Version
		}
		if !maps.Equal(held, want) {
			t.Errorf("envoy %d holds the %s %v, want %v", i, k, held, want)
		}
	}
	if len(e.unfilled) > 0 {
		t.Errorf("envoy %d had clusters without endpoints: %v", i, e.unfilled)
	}
}

// A server restarts after an edit of a cluster, and 100 Envoys come back: none lacks endpoints, and
// each gets one response of each type.
func TestRestartWithChangedCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := xdstest.NewState()
		serve := func(content string) *wire.Snapshot {
			return xdstest.Snapshot(xdstest.Resource(wire.ClusterType, "a", content), xdstest.Resource(wire.ClusterType, "b", "1"),
				xdstest.Resource(wire.EndpointType, "a", "1"), xdstest.Resource(wire.EndpointType, "b", "1"))
		}
		state.Nodes["n"] = serve("1")
		source := xdstest.NewSource(state)
		before := start(t, server.Options{Source: source})
		var envoys []*envoyModel
		for range 100 {
			e := newEnvoyModel("n")
			must(t, e.connect(before.conn))
			t.Cleanup(e.close)
			envoys = append(envoys, e)
		}
		synctest.Wait()
		for _, e := range envoys {
			e.close()
		}
		source.Edit(func(s *xdstest.State) { s.Nodes["n"] = serve("2") })
		after := start(t, server.Options{Source: source})
		for _, e := range envoys {
			must(t, e.connect(after.conn))
		}
		synctest.Wait()
		for i, e := range envoys {
			if !e.isWarm() {
				t.Errorf("envoy %d warms %v", i, slowest(e))
			}
			for url, n := range e.responses {
				if n != 1 {
					t.Errorf("envoy %d got %d responses of %s", i, n, url)
				}
			}
			compareModel(t, i, e, source.State().Nodes["n"])
		}
	})
}
