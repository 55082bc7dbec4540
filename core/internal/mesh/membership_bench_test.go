package mesh_test

import (
	"fmt"
	"maps"
	"sync/atomic"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/mesh"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
)

// BenchmarkMembership changes which policies select dataplanes as the three groups of Calico's
// felix/labelindex/named_port_bench_test.go do, at 10,000 selectors or endpoints.
func BenchmarkMembership(b *testing.B) {
	for _, m := range memberships() {
		b.Run(m.name, func(b *testing.B) {
			e := core.NewEngine(kinds.All(), core.Options{Semantics: core.TargetRef})
			must(b, e, core.Batch{Upsert: m.mesh})
			var edits [ahead]core.Batch
			i := 0
			cycle := func() {
				for range m.cycle {
					if i%ahead == 0 {
						b.StopTimer()
						for j := range edits {
							edits[j] = m.edit(i + j)
						}
						b.StartTimer()
					}
					must(b, e, edits[i%ahead])
					i++
				}
			}
			cycle() // the first edits make what later ones use again
			b.ReportAllocs()
			for b.Loop() {
				cycle()
			}
		})
	}
}

// ahead is how many edits are made at a time, while the time is not measured.
const ahead = 256

// BenchmarkMembershipFloor copies the pages that the edits of BenchmarkMembership copy, stores the
// version, and does nothing else: what it costs that readers never wait.
func BenchmarkMembershipFloor(b *testing.B) {
	for _, m := range memberships() {
		b.Run(m.name, func(b *testing.B) {
			var published atomic.Pointer[mesh.State]
			published.Store(m.state(b))
			b.ReportAllocs()
			for i := 0; b.Loop(); i += m.cycle {
				for j := range m.cycle {
					now := published.Load()
					dataplanes, from, to := m.moves(i + j)
					published.Store(now.Copied(dataplanes, from, to))
				}
			}
			if dataplanes, _ := published.Load().Len(); dataplanes > count {
				b.Fatal(dataplanes)
			}
		})
	}
}

// A membership is a mesh and its edits.
type membership struct {
	name string
	mesh *resource.Set
	edit func(i int) core.Batch
	// cycle is the number of edits after which their costs repeat. An operation is one cycle.
	cycle int
	// moves returns the dataplanes that an edit moves, and the profiles that they leave and join.
	moves func(i int) (moved []*resource.Dataplane, from, to uint32)
}

const count = 10_000

func memberships() []*membership { return []*membership{joins(), selectors(), relabels()} }

// joins has 1,000 dataplanes join, and then leave, one in each edit.
func joins() *membership {
	input := shape.CalicoIPSets(count, 1)
	m := &membership{name: "join", cycle: 1, mesh: new(resource.Set)}
	for id, required := range input.Selectors {
		m.mesh.Policies = append(m.mesh.Policies, memberPolicy(id, required))
	}
	m.mesh.Dataplanes = append(m.mesh.Dataplanes, memberDataplane(1000, input.Items[0]))
	m.edit = func(i int) core.Batch {
		d := memberDataplane(i%1000, input.Items[0])
		if i/1000%2 == 1 {
			return core.Batch{Delete: []resource.ID{d.ID}}
		}
		return core.Batch{Upsert: &resource.Set{Dataplanes: []*resource.Dataplane{d}}}
	}
	all := memberDataplanes(1000, input.Items[0])
	m.moves = func(i int) ([]*resource.Dataplane, uint32, uint32) {
		if i/1000%2 == 1 {
			return all[i%1000:][:1], 0, mesh.Nowhere
		}
		return all[i%1000:][:1], mesh.Nowhere, 0
	}
	return m
}

// selectors gives one selector the label of another of ten IP sets in each edit. All
// dataplanes have the label of the second.
func selectors() *membership {
	input := shape.CalicoIPSets(10, 1)
	all := memberDataplanes(count, input.Items[0])
	return &membership{
		name:  "selector",
		cycle: 10,
		mesh:  &resource.Set{Dataplanes: all},
		edit: func(i int) core.Batch {
			return core.Batch{Upsert: &resource.Set{Policies: []*resource.Policy{memberPolicy(0, input.Selectors[i%10])}}}
		},
		moves: func(i int) ([]*resource.Dataplane, uint32, uint32) {
			switch i % 10 {
			case 1:
				return all, 0, 1
			case 2:
				return all, 1, 0
			}
			return nil, 0, 0
		},
	}
}

// relabels changes the labels of another dataplane in each edit.
func relabels() *membership {
	shared := shape.CalicoIPSets(0, 1).Items[0]
	name := func(n int) string { return fmt.Sprintf("namespace-%d", n) }
	all := memberDataplanes(count, shared)
	m := &membership{name: "relabel", cycle: 1, mesh: &resource.Set{Dataplanes: all}}
	for id := range 100 {
		m.mesh.Policies = append(m.mesh.Policies, memberPolicy(id, map[string]string{"name": name(id)}))
	}
	m.edit = func(i int) core.Batch {
		labels := map[string]string{"name": name(i % count), "update-idx": fmt.Sprint(i), "something-shared": "foo"}
		maps.Copy(labels, shared)
		return core.Batch{Upsert: &resource.Set{Dataplanes: []*resource.Dataplane{memberDataplane(i%count, labels)}}}
	}
	m.moves = func(i int) ([]*resource.Dataplane, uint32, uint32) { return all[i%count:][:1], 0, 0 }
	return m
}

func memberDataplanes(n int, labels map[string]string) []*resource.Dataplane {
	all := make([]*resource.Dataplane, n)
	for i := range all {
		all[i] = memberDataplane(i, labels)
	}
	return all
}

func memberDataplane(n int, labels map[string]string) *resource.Dataplane {
	labels = maps.Clone(labels)
	labels[resource.ServiceTag] = "wep"
	return &resource.Dataplane{
		Meta:     resource.Meta{ID: resource.ID{Kind: resource.DataplaneKind, Mesh: shape.Mesh, Name: fmt.Sprintf("wep-%d", n)}},
		Address:  fmt.Sprintf("10.0.%d.%d", n>>8, n&255),
		Inbounds: []resource.Inbound{{Port: 80, Tags: resource.NewTags(labels)}},
	}
}

func memberPolicy(id int, required map[string]string) *resource.Policy {
	kind := meshtimeout.Kind()
	return &resource.Policy{
		Meta:      resource.Meta{ID: resource.ID{Kind: kind.Name, Mesh: shape.Mesh, Name: fmt.Sprintf("ipset-%06d", id)}},
		Type:      kind,
		TargetRef: resource.TargetRef{Kind: resource.TargetMeshSubset, Tags: resource.NewTags(required)},
		To:        []resource.Item{{TargetRef: resource.TargetRef{Kind: resource.TargetMesh}, Conf: shape.Timeout(id)}},
	}
}

func must(b *testing.B, e *core.Engine, batch core.Batch) {
	if _, err := e.Apply(b.Context(), batch); err != nil {
		b.Fatal(err)
	}
}

// state returns the mesh before the first edit.
func (m *membership) state(b *testing.B) *mesh.State {
	batch := &mesh.Batch{Mesh: shape.Mesh}
	for _, d := range m.mesh.Dataplanes {
		batch.Dataplanes = append(batch.Dataplanes, mesh.Upsert(d))
	}
	for _, p := range m.mesh.Policies {
		batch.Policies = append(batch.Policies, mesh.Upsert(p))
	}
	batch.Sort(false)
	u, err := mesh.NewWriter(shape.Mesh, kinds.All(), semantics.Reading{Semantics: semantics.TargetRef}).Prepare(b.Context(), batch)
	if err != nil {
		b.Fatal(err)
	}
	s, err := u.Run(b.Context(), new(mesh.Buffers))
	if err != nil {
		b.Fatal(err)
	}
	return s
}
