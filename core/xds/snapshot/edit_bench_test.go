package snapshot_test

import (
	"context"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

// BenchmarkEdit makes the edits of mesh-perf's tests in its graph of 1,000 services with two
// instances, and the snapshots of all dataplanes after each: what a server computes before it
// sends. An operation is the edit and its opposite.
func BenchmarkEdit(b *testing.B) {
	rate := func(requests uint32) core.Batch {
		return core.Batch{Upsert: &resource.Set{Policies: []*resource.Policy{shape.MeshPerfRateLimit(requests)}}}
	}
	instance := shape.MeshPerfInstance(19, 2) // of a service that others call
	identity := filesIdentity(b)
	for _, edit := range []struct {
		name        string
		forth, back core.Batch
	}{
		{"rate-limit", rate(10_000), rate(20_000)},
		{"instance", core.Batch{Upsert: &resource.Set{Dataplanes: []*resource.Dataplane{instance}}}, core.Batch{Delete: []resource.ID{instance.ID}}},
		{"certificates", core.Batch{Upsert: identity}, core.Batch{Delete: []resource.ID{identity.Objects[0].Identity().ID}}},
	} {
		b.Run("edit="+edit.name, func(b *testing.B) {
			engine := core.NewEngine(kinds.All(), core.Options{Semantics: core.TargetRef})
			builder := snapshot.NewBuilder(translators.All(), snapshot.Options{})
			var kept []*snapshot.Snapshot
			apply := func(ctx context.Context, batch core.Batch) {
				if _, err := engine.Apply(ctx, batch); err != nil {
					b.Fatal(err)
				}
				kept = buildAll(builder.At(engine.View()))
			}
			apply(b.Context(), core.Batch{Upsert: &resource.Set{Dataplanes: shape.MeshPerf(1_000, 2)}})
			apply(b.Context(), edit.forth)
			b.ReportAllocs()
			for b.Loop() {
				apply(b.Context(), edit.back)
				apply(b.Context(), edit.forth)
			}
			b.ReportMetric(float64(len(kept)), "dataplanes")
		})
	}
}
