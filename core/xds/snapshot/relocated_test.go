package snapshot_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/wire"
	"github.com/meshmatch/meshmatch/fuzz"
)

// A locator is answered as in an earlier state unless Relocated returns its name, in random meshes after
// changes of one or two resources, for clients that follow each state and for those that skip some, while
// others still ask the earlier ones. SOAK multiplies the number of meshes.
func TestRelocated(t *testing.T) {
	generator, err := fuzz.NewGenerator(kinds.All())
	if err != nil {
		t.Fatal(err)
	}
	seeds := 12 * uint64(fuzz.Soak(t))
	if testing.Short() {
		seeds = 4
	}
	var compared, kept, changed int
	for seed := range seeds {
		by, g := semantics.TargetRef+semantics.Semantics(seed%3), generator
		if by != semantics.TargetRef {
			g = g.WithKumaLabels().ReadBy(by)
		}
		edits := &randomEdits{random: rand.New(rand.NewPCG(seed, 31)), generator: g, present: map[resource.ID]bool{}}
		r := &relocations{t: t, random: edits.random}
		f := follow(t, by)
		for step := range 40 {
			batch, text := edits.next(t, step%20 == 0)
			if _, err := f.engine.Apply(t.Context(), batch); err != nil {
				t.Fatal(err)
			}
			r.follow(f.builder.At(f.engine.View()))
			if t.Failed() {
				t.Fatalf("seed %d, step %d, after %s\nand without %v", seed, step, text, batch.Delete)
			}
		}
		compared, kept, changed = compared+r.compared, kept+r.kept, changed+r.changed
	}
	if kept < compared/3 || changed < compared/100 {
		t.Errorf("of %d locators, %d need not be asked and %d are answered otherwise", compared, kept, changed)
	}
}

// relocations are the last states of a builder, each with the answers that clients have got.
type relocations struct {
	t         *testing.T
	random    *rand.Rand
	states    []answered
	questions []question // about all outbounds that there were

	compared, kept, changed int
}

type answered struct {
	state   *snapshot.State
	client  xds.Client
	answers map[int]wire.Variant // by question: some of those that there were
}

// learn adds the questions about the outbounds of a state.
func (r *relocations) learn(state *snapshot.State) {
	for _, mesh := range state.View().Meshes() {
		for _, d := range state.View().Dataplanes(mesh) {
			for i := range d.Outbounds {
				if d.Outbounds[i].Backend != nil {
					continue
				}
				name := variant.Destination{Mesh: mesh, Tags: d.Outbounds[i].Tags}.Name()
				if slices.ContainsFunc(r.questions, func(q question) bool { return q.name == name }) && r.random.IntN(4) > 0 {
					continue
				}
				for _, of := range []wire.Type{wire.ClusterType, wire.EndpointType, wire.RouteType} {
					r.questions = append(r.questions, question{of, name, variant.ParametersOf(d, 0)})
				}
			}
		}
	}
}

func (q question) variant(s *snapshot.State, client xds.Client) wire.Variant {
	v, _ := s.LocateFor(client, q.t, q.name, q.parameters)
	return v
}

// follow compares a new state with those before it.
func (r *relocations) follow(next *snapshot.State) {
	for _, before := range r.states {
		r.compare(&before, next, before.answers)
		for range r.random.IntN(3) { // a client that is late asks the earlier state, maybe something new
			if len(r.questions) == 0 {
				break
			}
			i := r.random.IntN(len(r.questions))
			answer := r.questions[i].variant(before.state, before.client)
			if known, asked := before.answers[i]; asked && known != answer {
				r.t.Errorf("%v of %+v: an earlier state is answered otherwise", r.questions[i], before.client)
			}
			r.compare(&before, next, map[int]wire.Variant{i: answer})
		}
	}
	r.learn(next)
	clients := append(xds.Envoys(), xds.Client{Type: xds.ProxylessGRPC})
	a := answered{state: next, client: clients[r.random.IntN(2)*(len(clients)-1)], answers: map[int]wire.Variant{}}
	for i, q := range r.questions {
		if r.random.IntN(2) == 0 {
			a.answers[i] = q.variant(next, a.client)
		}
	}
	r.states = append(r.states, a)
	if len(r.states) > 4 {
		r.states = slices.Delete(r.states, 0, 1+r.random.IntN(2))
	}
}

// compare compares answers of an earlier state with a new one.
func (r *relocations) compare(before *answered, next *snapshot.State, answers map[int]wire.Variant) {
	names, known := next.Relocated(before.client, before.state)
	for i, answer := range answers {
		q := r.questions[i]
		_, moved := slices.BinarySearch(names, q.name)
		r.compared++
		switch same := q.variant(next, before.client) == answer; {
		case known && !moved && !same:
			r.t.Errorf("%v of %+v: another answer, but its name is not relocated: %v", q, before.client, names)
		case known && !moved:
			r.kept++
		case !same:
			r.changed++
		}
	}
}
