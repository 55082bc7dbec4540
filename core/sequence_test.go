package core_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/fuzz"
)

// sequence applies random batches to an engine and, after each, compares the
// view with one that is built from the resources alone.
type sequence struct {
	*testing.T
	generator *fuzz.Generator
	engine    *core.Engine
	bytes     []byte
	known     world // what the engine must have
	answers   answers
	past      []pastView
	batches   []string // the text of each, for a failure
}

// pastView is a former view with its answers.
type pastView struct {
	view    *core.View
	answers answers
}

// TestSequences runs 150 seeded sequences, 20 with -short, or SOAK times as
// many.
func TestSequences(t *testing.T) {
	sequences := 150
	if testing.Short() {
		sequences = 20
	}
	sequences *= fuzz.Soak(t)
	generator, err := fuzz.NewGenerator(kinds.All())
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(sequences) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 1))
			data := fuzz.RandomBytes(random, 2_000)
			generator := generator
			if seed%2 == 1 {
				generator = generator.WithDestinations()
			}
			// Two of three sequences read policies as Kuma does.
			switch s := semantics.TargetRef + semantics.Semantics(seed%3); s {
			case semantics.TargetRef:
				runSequence(t, generator, s, data)
			default:
				runSequence(t, generator.WithKumaLabels().ReadBy(s), s, data)
			}
		})
	}
}

// FuzzSequence is [TestSequences] with bytes that the fuzzer chooses.
//
//fuzz:executions 700
func FuzzSequence(f *testing.F) {
	generator, err := fuzz.NewGenerator(kinds.All())
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("one batch and the next"))
	f.Fuzz(func(t *testing.T, data []byte) {
		runSequence(t, generator, semantics.TargetRef, data[:min(len(data), 4_000)])
	})
}

// view returns a view of resources alone, by the semantics of the engine.
func (s *sequence) view(set *resource.Set) (*core.View, error) {
	return s.engine.View().Options().NewView(context.Background(), s.generator.Kinds(), set)
}

func runSequence(t *testing.T, generator *fuzz.Generator, by semantics.Semantics, data []byte) {
	s := &sequence{
		T: t, generator: generator, bytes: data,
		engine:  core.NewEngine(generator.Kinds(), core.Options{Semantics: by}),
		known:   newWorld(),
		answers: answers{},
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the batches; the last one is wrong:\n%s", strings.Join(s.batches, "\n"))
		}
	})
	for len(s.bytes) > 0 {
		s.step()
	}
	first, documents := s.engine.View(), s.known.set().Documents
	s.apply(core.Batch{Delete: s.known.ids()})
	if n := len(s.engine.View().Meshes()); n != 0 {
		t.Errorf("%d meshes are left of nothing", n)
	}
	if diff := cmp.Diff(s.answersOf(first), s.answersOf(s.rebuilt(first, documents)), cmp.AllowUnexported(answer{})); diff != "" {
		t.Errorf("a view changed after it was published: %s", diff)
	}
}

// rebuilt returns a view that is built from nothing, of the resources of a view whose
// placements and bindings are in documents.
func (s *sequence) rebuilt(v *core.View, documents []*resource.Document) *core.View {
	set := resource.Set{Documents: documents}
	for _, mesh := range v.Meshes() {
		set.Dataplanes = append(set.Dataplanes, v.Dataplanes(mesh)...)
		set.Policies = append(set.Policies, v.Policies(mesh)...)
		set.Objects = append(set.Objects, v.Objects(mesh)...)
		if document := v.Mesh(mesh); document != nil {
			set.Meshes = append(set.Meshes, document)
		}
	}
	next, err := s.view(&set)
	if err != nil {
		s.Fatal(err)
	}
	return next
}

// apply applies a batch and checks everything.
func (s *sequence) apply(batch core.Batch) {
	if batch.Upsert != nil {
		batch.Upsert.Policies = slices.DeleteFunc(batch.Upsert.Policies, func(p *resource.Policy) bool { return !s.valid(&p.Meta, p.Validate) })
		batch.Upsert.Dataplanes = slices.DeleteFunc(batch.Upsert.Dataplanes, func(d *resource.Dataplane) bool { return !s.valid(&d.Meta, d.Validate) })
	}
	s.Helper()
	s.batches = append(s.batches, batchText(len(s.batches)+1, batch))
	commit, err := s.engine.Apply(context.Background(), batch)
	if err != nil {
		s.Fatal(err)
	}
	s.known.apply(batch)
	s.keepKnown(batch, commit.After)
	if err := s.engine.CheckInvariants(); err != nil {
		s.Fatal(err)
	}
	set := s.known.set()
	want, err := s.view(set)
	if err != nil {
		s.Fatal(err)
	}
	before := s.answers
	s.answers = s.answersOf(commit.After)
	s.checkOutsiders(commit.After)
	if len(s.past) > 0 { // several commits as one, and backwards
		past := s.past[s.intn(len(s.past))]
		s.checkChanges(core.Commit{Before: past.view, After: commit.After}, past.answers, s.answers)
		s.checkChanges(core.Commit{Before: commit.After, After: past.view}, s.answers, past.answers)
		s.checkChanges(core.Commit{Before: past.view, After: want}, past.answers, s.answers)
		// and every replica reports the same
		if diff := cmp.Diff(changesText(core.Commit{Before: past.view, After: want}), changesText(core.Commit{Before: past.view, After: commit.After})); diff != "" {
			s.Fatal(diff)
		}
	}
	s.past = append(s.past, pastView{commit.After, s.answers})
	if diff := cmp.Diff(s.answersOf(want), s.answers, cmp.AllowUnexported(answer{})); diff != "" {
		s.Fatalf("the view differs from one built from nothing: %s", diff)
	}
	if diff := cmp.Diff(want.Count(), commit.After.Count()); diff != "" {
		s.Fatal(diff)
	}
	if diff := cmp.Diff(want.Meshes(), commit.After.Meshes()); diff != "" {
		s.Fatal(diff)
	}
	for _, mesh := range want.Meshes() {
		if !slices.EqualFunc(want.Dataplanes(mesh), commit.After.Dataplanes(mesh), sameDataplane) || !slices.EqualFunc(want.Policies(mesh), commit.After.Policies(mesh), samePolicy) {
			s.Fatal("the resources differ")
		}
	}
	s.checkIdentities(commit, want)
	s.checkChanges(commit, before, s.answers)
}

// sameDataplane reports whether two views have the same document of a dataplane, completed
// in the same way.
func sameDataplane(a, b *resource.Dataplane) bool {
	return a == b || a.Declared() == b.Declared() && sameDataplaneContent(a, b)
}

// keepKnown records the versions that the engine kept because an upsert repeated
// them.
func (s *sequence) keepKnown(batch core.Batch, v *core.View) {
	s.Helper()
	if batch.Upsert == nil {
		return
	}
	for _, d := range batch.Upsert.Dataplanes {
		if kept := v.Dataplane(d.ID).Declared(); kept.Pos == d.Pos && sameDataplaneContent(kept, d) {
			s.known.dataplanes[d.ID] = kept
		}
	}
	for _, o := range batch.Upsert.Objects {
		if kept := v.Object(o.Identity().ID); reflect.DeepEqual(kept, o) {
			s.known.objects[o.Identity().ID] = kept
		}
	}
	for _, p := range batch.Upsert.Policies {
		if kept := v.Policy(p.ID); reflect.DeepEqual(kept, p) {
			s.known.policies[p.ID] = kept
		}
	}
}

// valid reports whether the engine accepts a resource: a change of one thing can
// make it invalid.
func (s *sequence) valid(m *resource.Meta, validate func(*diag.At)) bool {
	var sink diag.Sink
	validate(m.Place(&sink))
	sink.Choose(s.engine.View().Semantics().Reading())
	return !sink.Failed()
}

// samePolicy reports whether views have one policy. Each engine makes its own copy of a
// policy whose fields are completed by Kuma's schema.
func samePolicy(a, b *resource.Policy) bool {
	copied := len(a.SchemaDefaults)+len(a.Unread) > 0
	return a == b || copied && a.ID == b.ID && a.Pos == b.Pos && slices.Equal(a.SchemaDefaults, b.SchemaDefaults) && slices.Equal(a.Unread, b.Unread)
}
