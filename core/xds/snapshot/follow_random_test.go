package snapshot_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/fuzz"
)

// A builder answers as a new one does after random changes of meshes with resources of all
// kinds, in each semantics: after a change of most of a mesh, and after a sequence of changes of
// one or two resources, because a cache keeps more over a small change. SOAK multiplies the
// number of meshes.
func TestBuilderFollowsRandomMeshes(t *testing.T) {
	generator, err := fuzz.NewGenerator(kinds.All())
	if err != nil {
		t.Fatal(err)
	}
	seeds := 18 * uint64(fuzz.Soak(t))
	if testing.Short() {
		seeds = 6
	}
	var kept atomic.Int64
	t.Cleanup(func() {
		if kept.Load() < 10*int64(seeds) {
			t.Errorf("%d snapshots were kept in %d meshes", kept.Load(), seeds)
		}
	})
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			by, g := semantics.TargetRef+semantics.Semantics(seed%3), generator.WithDestinations()
			if by != semantics.TargetRef {
				g = g.WithKumaLabels().ReadBy(by)
			}
			edits := &randomEdits{random: rand.New(rand.NewPCG(seed, 27)), generator: g, present: map[resource.ID]bool{}}
			f := follow(t, by)
			h := &holders{random: edits.random, held: map[string]holder{}}
			for step := range 36 {
				batch, text := edits.next(t, step%12 == 0)
				if _, err := f.engine.Apply(t.Context(), batch); err != nil {
					t.Fatal(err)
				}
				fresh := snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(f.engine.View())
				want := answersOf(fresh)
				if diff := cmp.Diff(want, answersOf(f.builder.At(f.engine.View()))); diff != "" {
					t.Fatalf("step %d, after %s\nand without %v: -a new builder +this one:\n%s", step, text, batch.Delete, diff)
				}
				h.follow(t, f.builder.At(f.engine.View()), fresh)
			}
			kept.Add(int64(h.kept))
		})
	}
}

// randomEdits makes batches from random meshes. A large batch has some resources of a mesh and
// the removal of some others, a small one adds, replaces or removes one resource, rarely two.
type randomEdits struct {
	random    *rand.Rand
	generator *fuzz.Generator
	present   map[resource.ID]bool
}

// next returns a batch, and as text the identities of its resources and the mesh that they are
// from.
func (e *randomEdits) next(t *testing.T, large bool) (batch core.Batch, text string) {
	scenario := e.generator.Scenario(fuzz.RandomBytes(e.random, 100+e.random.IntN(400)))
	set, err := scenario.Load()
	if err != nil {
		t.Fatal(err)
	}
	batch.Upsert = &resource.Set{}
	upserted := map[resource.ID]bool{}
	if !large {
		for range 1 + e.random.IntN(5)/4 {
			if e.random.IntN(3) == 0 {
				e.removeOne(&batch)
			} else {
				e.addOne(batch.Upsert, set, upserted)
			}
		}
		batch.Delete = slices.DeleteFunc(batch.Delete, func(id resource.ID) bool { return upserted[id] })
		return batch, e.commit(upserted, scenario)
	}
	omitted := e.random.IntN(4) // of four resources
	batch.Upsert = &resource.Set{
		Meshes:     some(e, set.Meshes, omitted, upserted, func(m *resource.Mesh) resource.ID { return m.ID }),
		Dataplanes: some(e, set.Dataplanes, omitted, upserted, func(d *resource.Dataplane) resource.ID { return d.ID }),
		Policies:   some(e, set.Policies, omitted, upserted, func(p *resource.Policy) resource.ID { return p.ID }),
		Objects:    some(e, set.Objects, omitted, upserted, func(o resource.Object) resource.ID { return o.Identity().ID }),
		Documents:  some(e, set.Documents, omitted, upserted, func(d *resource.Document) resource.ID { return d.ID }),
	}
	for _, id := range slices.SortedFunc(maps.Keys(e.present), resource.ID.Compare) {
		if !upserted[id] && e.random.IntN(6) == 0 {
			batch.Delete = append(batch.Delete, id)
			delete(e.present, id)
		}
	}
	return batch, e.commit(upserted, scenario)
}

func (e *randomEdits) commit(upserted map[resource.ID]bool, from *fuzz.Scenario) (text string) {
	maps.Copy(e.present, upserted)
	return fmt.Sprintf("%v of\n%s", slices.SortedFunc(maps.Keys(upserted), resource.ID.Compare), from.YAML())
}

// some returns a random part of a list, and adds its identities to chosen.
func some[T any](e *randomEdits, list []T, omitted int, chosen map[resource.ID]bool, id func(T) resource.ID) (part []T) {
	for _, r := range list {
		if e.random.IntN(4) >= omitted {
			part, chosen[id(r)] = append(part, r), true
		}
	}
	return part
}

// addOne adds one resource of a mesh to a batch: mostly an object, such as a destination, or a
// policy, because these are what many dataplanes share.
func (e *randomEdits) addOne(upsert, from *resource.Set, chosen map[resource.ID]bool) {
	switch n := e.random.IntN(10); {
	case n < 4:
		one(e, &upsert.Objects, from.Objects, chosen, func(o resource.Object) resource.ID { return o.Identity().ID })
	case n < 7:
		one(e, &upsert.Policies, from.Policies, chosen, func(p *resource.Policy) resource.ID { return p.ID })
	case n < 8:
		one(e, &upsert.Dataplanes, from.Dataplanes, chosen, func(d *resource.Dataplane) resource.ID { return d.ID })
	case n < 9:
		one(e, &upsert.Meshes, from.Meshes, chosen, func(m *resource.Mesh) resource.ID { return m.ID })
	default:
		one(e, &upsert.Documents, from.Documents, chosen, func(d *resource.Document) resource.ID { return d.ID })
	}
}

// one adds a random element of a list to another list, unless its identity is chosen already.
func one[T any](e *randomEdits, to *[]T, from []T, chosen map[resource.ID]bool, id func(T) resource.ID) {
	if len(from) == 0 {
		return
	}
	if r := from[e.random.IntN(len(from))]; !chosen[id(r)] {
		*to, chosen[id(r)] = append(*to, r), true
	}
}

// removeOne adds the removal of one resource to a batch.
func (e *randomEdits) removeOne(batch *core.Batch) {
	present := slices.SortedFunc(maps.Keys(e.present), resource.ID.Compare)
	if len(present) == 0 {
		return
	}
	id := present[e.random.IntN(len(present))]
	batch.Delete = append(batch.Delete, id)
	delete(e.present, id)
}

// holders are proxies that keep a snapshot where Keeps says so.
type holders struct {
	random *rand.Rand
	held   map[string]holder
	kept   int
}

type holder struct {
	snapshot *snapshot.Snapshot
	from     *snapshot.State
}

// follow moves two of three holders to a state, and compares what they keep with the answers of a new builder.
func (h *holders) follow(t *testing.T, s, fresh *snapshot.State) {
	for _, mesh := range s.View().Meshes() {
		for _, d := range s.View().Dataplanes(mesh) {
			for name, client := range clientTypes {
				name = path.Join(mesh, d.Namespace, d.Name, name)
				before, known := h.held[name]
				switch {
				case known && h.random.IntN(3) == 0:
					continue
				case known && s.Keeps(before.snapshot, before.from):
					h.kept++
					got, want := map[string]string{}, map[string]string{}
					addSnapshot(got, name, before.snapshot)
					addSnapshot(want, name, fresh.Snapshot(d, client))
					if diff := cmp.Diff(want, got); diff != "" {
						t.Fatalf("a snapshot is kept: -a new builder +kept:\n%s", diff)
					}
				default:
					before.snapshot = s.Snapshot(d, client)
				}
				h.held[name] = holder{before.snapshot, s}
			}
		}
	}
}
