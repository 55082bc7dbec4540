package snapshot_test

import (
	"sync/atomic"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

// An edit of identities makes all clusters again, and no listener and no routes of an outbound.
func TestIdentitiesReachClustersOnly(t *testing.T) {
	var listeners, routes, clusters atomic.Int64
	counted := xds.Translator{
		Kind:     "Counted",
		Outbound: func(*xds.Outbound, *results.Effective) { listeners.Add(1) },
		Routes:   func(*xds.Routes, *results.Effective) { routes.Add(1) },
		Cluster:  func(*xds.Cluster, *results.Effective) { clusters.Add(1) },
	}
	engine := core.NewEngine(kinds.All(), core.Options{Semantics: core.TargetRef})
	builder := snapshot.NewBuilder(append(translators.All(), counted), snapshot.Options{})
	build := func(set *resource.Set) [3]int64 {
		if _, err := engine.Apply(t.Context(), core.Batch{Upsert: set}); err != nil {
			t.Fatal(err)
		}
		buildAll(builder.At(engine.View()))
		return [3]int64{listeners.Swap(0), routes.Swap(0), clusters.Swap(0)}
	}
	first := build(&resource.Set{Dataplanes: shape.MeshPerf(10, 2)})
	if first[0] == 0 || first[1] == 0 || first[2] == 0 {
		t.Fatalf("the mesh has %v listeners, routes and clusters of outbounds", first)
	}
	if again := build(filesIdentity(t)); again != [3]int64{0, 0, first[2]} {
		t.Errorf("an identity made %v listeners, routes and clusters again, of %v", again, first)
	}
}
