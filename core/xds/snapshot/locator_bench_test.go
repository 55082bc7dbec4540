package snapshot_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// BenchmarkRelocate edits a policy of a mesh of 20,000 dataplanes that has an item to one service, which has
// 50 clients, and asks which variants the clusters and endpoints of all dataplanes have then, by locators.
// With impl=reached only those are asked that the edit can reach, and with impl=scan all. The metric asked/op
// is their number.
func BenchmarkRelocate(b *testing.B) {
	edits := itemEdits(b)
	engine := core.NewEngine(kinds.All(), core.Options{Semantics: core.TargetRef})
	if _, err := engine.Apply(b.Context(), core.Batch{Upsert: itemMesh(b, true)}); err != nil {
		b.Fatal(err)
	}
	builder := snapshot.NewBuilder(translators.All(), snapshot.Options{})
	state := builder.At(engine.View())
	var locators []question
	byName := map[string][]question{}
	for _, d := range engine.View().Dataplanes(resource.DefaultMesh) {
		for i := range d.Outbounds {
			name := variant.Destination{Mesh: d.Mesh, Tags: d.Outbounds[i].Tags}.Name()
			for _, t := range []wire.Type{wire.ClusterType, wire.EndpointType} {
				q := question{t, name, variant.ParametersOf(d, 0)}
				locators, byName[name] = append(locators, q), append(byName[name], q)
			}
		}
	}
	ask := func(list []question) {
		for _, q := range list {
			if _, ok := state.Locate(q.t, q.name, q.parameters); !ok {
				b.Fatal("there is no variant")
			}
		}
	}
	ask(locators)
	for _, impl := range []string{"reached", "scan"} {
		b.Run("impl="+impl, func(b *testing.B) {
			asked := 0
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := engine.Apply(b.Context(), edits[i%2]); err != nil {
					b.Fatal(err)
				}
				before := state
				state = builder.At(engine.View())
				if impl == "scan" {
					ask(locators)
					asked += len(locators)
					continue
				}
				names, known := state.Relocated(xds.Client{}, before)
				if !known {
					b.Fatal("it is not known what the edit reaches")
				}
				for _, name := range names {
					ask(byName[name])
					asked += len(byName[name])
				}
			}
			b.ReportMetric(float64(asked)/float64(b.N), "asked/op")
		})
	}
}
