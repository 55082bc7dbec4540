package snapshot_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
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
// kinds, in each semantics. SOAK multiplies the number of meshes.
func TestBuilderFollowsRandomMeshes(t *testing.T) {
	generator, err := fuzz.NewGenerator(kinds.All())
	if err != nil {
		t.Fatal(err)
	}
	seeds := 12 * uint64(fuzz.Soak(t))
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			by, g := semantics.TargetRef+semantics.Semantics(seed%3), generator.WithDestinations()
			if by != semantics.TargetRef {
				g = g.WithKumaLabels().ReadBy(by)
			}
			edits := &randomEdits{random: rand.New(rand.NewPCG(seed, 27)), generator: g, present: map[resource.ID]bool{}}
			f := follow(t, by)
			for step := range 10 {
				batch, text := edits.next(t)
				if _, err := f.engine.Apply(t.Context(), batch); err != nil {
					t.Fatal(err)
				}
				want := answersOf(snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(f.engine.View()))
				if diff := cmp.Diff(want, answersOf(f.builder.At(f.engine.View()))); diff != "" {
					t.Fatalf("step %d, after some of\n%s\nand without %v: -a new builder +this one:\n%s", step, text, batch.Delete, diff)
				}
			}
		})
	}
}

// randomEdits makes batches, each of some resources of a random mesh and the removal of some
// others.
type randomEdits struct {
	random    *rand.Rand
	generator *fuzz.Generator
	present   map[resource.ID]bool
}

// next returns a batch with some resources of a random mesh, and the mesh as YAML.
func (e *randomEdits) next(t *testing.T) (batch core.Batch, text string) {
	scenario := e.generator.Scenario(fuzz.RandomBytes(e.random, 100+e.random.IntN(400)))
	set, err := scenario.Load()
	if err != nil {
		t.Fatal(err)
	}
	omitted := e.random.IntN(4) // of four resources
	upserted := map[resource.ID]bool{}
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
	maps.Copy(e.present, upserted)
	return batch, scenario.YAML()
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
