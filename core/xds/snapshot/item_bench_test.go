package snapshot_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

// itemDataplanes and itemClients are the dataplanes of a mesh and those that call the service
// of an item.
const itemDataplanes, itemClients = 20_000, 50

// itemMesh returns dataplanes with ten outbounds each, of which the first ones lead to the
// service s0 too: by tags, or to MeshServices.
func itemMesh(tb testing.TB, byTags bool) *resource.Set {
	tb.Helper()
	const services, outbounds = 500, 10
	var text strings.Builder
	for i := range services {
		if !byTags {
			fmt.Fprintf(&text, "{type: MeshService, name: s%d, labels: {kuma.io/display-name: s%d}, spec: {selector: {dataplaneTags: {kuma.io/service: s%d}}, ports: [{port: 80, targetPort: 80, appProtocol: http}]}}\n---\n", i, i, i)
		}
	}
	for i := range itemDataplanes {
		fmt.Fprintf(&text, "{type: Dataplane, name: d%05d, networking: {address: 10.%d.%d.%d, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: s%d}}], outbound: [",
			i, i>>16, i>>8&255, i&255, i%services)
		for o := range outbounds {
			service := 1 + (i+o*7)%(services-1)
			if o == 0 && i < itemClients {
				service = 0
			}
			if byTags {
				fmt.Fprintf(&text, "{port: %d, tags: {kuma.io/service: s%d}}, ", 1000+o, service)
			} else {
				fmt.Fprintf(&text, "{port: %d, backendRef: {kind: MeshService, name: s%d, port: 80}}, ", 1000+o, service)
			}
		}
		text.WriteString("]}}\n---\n")
	}
	text.WriteString("{type: MeshTimeout, name: all, spec: {to: [{default: {connectionTimeout: 9s}}]}}\n")
	return decode(tb, text.String())
}

func decode(tb testing.TB, text string) *resource.Set {
	tb.Helper()
	set, err := (&resource.Loader{Kinds: kinds.All()}).Decode(tb.Context(), resource.Input{Name: "mesh.yaml", Data: []byte(text)})
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

// itemEdits are two versions of a policy of the whole mesh to one service.
func itemEdits(tb testing.TB) [2]core.Batch {
	tb.Helper()
	of := func(seconds int) core.Batch {
		return core.Batch{Upsert: decode(tb, fmt.Sprintf("{type: MeshTimeout, name: one, spec: {to: [{targetRef: {kind: MeshService, name: s0}, default: {idleTimeout: %ds}}]}}", seconds))}
	}
	return [2]core.Batch{of(1), of(2)}
}

// BenchmarkItem changes a policy of a mesh of 20,000 dataplanes that has an item to one
// service, and makes the snapshots of all dataplanes. The service has 50 clients: only they
// change (SPEC 5, 17.3). An operation is one commit, its changes and the snapshots.
func BenchmarkItem(b *testing.B) {
	for _, world := range []string{"tags", "resources"} {
		b.Run("outbounds="+world, func(b *testing.B) {
			engine := core.NewEngine(kinds.All(), core.Options{Semantics: core.TargetRef})
			builder := snapshot.NewBuilder(translators.All(), snapshot.Options{})
			edits := itemEdits(b)
			var kept []*snapshot.Snapshot
			var named, made int
			apply := func(batch core.Batch) {
				commit, err := engine.Apply(b.Context(), batch)
				if err != nil {
					b.Fatal(err)
				}
				named, made = 0, 0
				for _, c := range commit.Changes() {
					named += c.Len()
				}
				next := buildAll(builder.At(engine.View()))
				for i := range kept {
					if kept[i] != next[i] {
						made++
					}
				}
				kept = next
			}
			apply(core.Batch{Upsert: itemMesh(b, world == "tags")})
			apply(edits[0])
			b.ReportAllocs()
			for i := 1; b.Loop(); i++ {
				apply(edits[i%2])
			}
			b.ReportMetric(float64(named), "changes")
			b.ReportMetric(float64(made), "snapshots")
		})
	}
}
