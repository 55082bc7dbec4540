package core_test

import (
	"fmt"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
)

// BenchmarkBuild makes an engine's first view from resources in memory. With
// one dataplane it is the cost of the first answer after loading many policies.
// A scan gives this answer without any preparation.
func BenchmarkBuild(b *testing.B) {
	for _, size := range []struct{ dataplanes, policies int }{{1, 10_000}, {10_000, 1_000}} {
		kind := meshtimeout.Kind()
		kinds := resource.NewKinds(kind)
		set := &resource.Set{Policies: shape.Fleet(kind, size.policies)}
		for j := range size.dataplanes {
			set.Dataplanes = append(set.Dataplanes, shape.Dataplane(7+j, 10))
		}
		first := set.Dataplanes[0]
		b.Run(fmt.Sprintf("dataplanes=%d/policies=%d/impl=engine", size.dataplanes, size.policies), func(b *testing.B) {
			b.ReportAllocs()
			var view *core.View
			for b.Loop() {
				engine := core.NewEngine(kinds, core.Options{Semantics: core.TargetRef})
				if _, err := engine.Apply(b.Context(), core.Batch{Upsert: set}); err != nil {
					b.Fatal(err)
				}
				view = engine.View()
			}
			configs := view.Configs(first, core.Enforced)
			if got, want := configs[0].Matched.Len(), len(shape.Scan(set.Policies, first)); got != want {
				b.Fatalf("%d policies select the first dataplane, want %d", got, want)
			}
		})
		if size.dataplanes > 1 {
			continue
		}
		b.Run(fmt.Sprintf("dataplanes=%d/policies=%d/impl=scan", size.dataplanes, size.policies), func(b *testing.B) {
			b.ReportAllocs()
			selected := 0
			for b.Loop() {
				selected = len(shape.Scan(set.Policies, first))
			}
			if selected == 0 {
				b.Fatal("no policy selects the dataplane")
			}
		})
	}
}
