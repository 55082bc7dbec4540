package snapshot_test

import (
	"fmt"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// BenchmarkFirst makes the snapshot of a dataplane with 50 outbounds from nothing: alone, and
// among others, for which the engine selects policies too. With from=resources, the engine is
// made from 10,000 decoded policies too; with from=view, it exists.
func BenchmarkFirst(b *testing.B) {
	const outbounds = 50
	all := kinds.All()
	for _, others := range []int{0, 99} {
		set := &resource.Set{Policies: shape.Fleet(all.Lookup("MeshTimeout"), 10_000), Dataplanes: []*resource.Dataplane{shape.Dataplane(0, outbounds)}}
		for j := range others {
			set.Dataplanes = append(set.Dataplanes, shape.Dataplane(1+j, 0))
		}
		first := func(b *testing.B) *core.View {
			engine := core.NewEngine(all, core.Options{Semantics: core.TargetRef})
			if _, err := engine.Apply(b.Context(), core.Batch{Upsert: set}); err != nil {
				b.Fatal(err)
			}
			return engine.View()
		}
		serve := func(b *testing.B, view *core.View) {
			state := snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(view)
			s := state.Snapshot(view.Dataplane(set.Dataplanes[0].ID), xds.Envoy)
			for _, t := range []wire.Type{wire.ClusterType, wire.EndpointType, wire.ListenerType} {
				if len(s.Resources(t)) < outbounds {
					b.Fatalf("%d %s", len(s.Resources(t)), t)
				}
			}
		}
		b.Run(fmt.Sprintf("others=%d/from=resources", others), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				serve(b, first(b))
			}
		})
		b.Run(fmt.Sprintf("others=%d/from=view", others), func(b *testing.B) {
			view := first(b)
			b.ReportAllocs()
			for b.Loop() {
				serve(b, view)
			}
		})
	}
}
