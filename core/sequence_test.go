package core_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/conf/kinds"
	"github.com/meshmatch/meshmatch/core/inspect"
	"github.com/meshmatch/meshmatch/core/match"
	"github.com/meshmatch/meshmatch/core/partition"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
	"github.com/meshmatch/meshmatch/core/strict"
	"github.com/meshmatch/meshmatch/fuzz"
)

// sequence applies random batches to an engine and, after each, compares the
// view with one that is built from nothing.
type sequence struct {
	*testing.T
	generator *fuzz.Generator
	engine    *core.Engine
	bytes     []byte
	known     world // what the engine must have
	answers   answers
	past      []pastView
}

// pastView is a view that was published, with what it says.
type pastView struct {
	view    *core.View
	answers answers
}

// world is resources by identity.
type world struct {
	meshes     map[resource.ID]*resource.Mesh
	dataplanes map[resource.ID]*resource.Dataplane
	policies   map[resource.ID]*resource.Policy
}

// answers is what views say of dataplanes, as JSON.
type answers map[resource.ID][2]answer // effective, shadow

type answer struct {
	all    string
	places map[rules.Place]string
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
			data := make([]byte, 2_000)
			for i := range data {
				data[i] = byte(random.Uint32())
			}
			runSequence(t, generator, data)
		})
	}
}

// FuzzSequence is [TestSequences] with bytes that the fuzzer chooses.
func FuzzSequence(f *testing.F) {
	generator, err := fuzz.NewGenerator(kinds.All())
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("one batch and the next"))
	f.Fuzz(func(t *testing.T, data []byte) { runSequence(t, generator, data[:min(len(data), 4_000)]) })
}

func runSequence(t *testing.T, generator *fuzz.Generator, data []byte) {
	s := &sequence{
		T: t, generator: generator, bytes: data,
		engine: core.NewEngine(generator.Kinds(), core.Options{}),
		known: world{
			meshes:     map[resource.ID]*resource.Mesh{},
			dataplanes: map[resource.ID]*resource.Dataplane{},
			policies:   map[resource.ID]*resource.Policy{},
		},
		answers: answers{},
	}
	for len(s.bytes) > 0 {
		s.step()
	}
	first := s.engine.View()
	s.apply(core.Batch{Delete: s.known.ids()})
	if n := len(s.engine.View().Meshes()); n != 0 {
		t.Errorf("%d meshes are left of nothing", n)
	}
	if diff := cmp.Diff(s.answersOf(first), s.answersOf(s.rebuilt(first)), cmp.AllowUnexported(answer{})); diff != "" {
		t.Errorf("a view changed after it was published: %s", diff)
	}
}

// rebuilt returns a view from nothing of the resources of a view.
func (s *sequence) rebuilt(v *core.View) *core.View {
	var set resource.Set
	for _, mesh := range v.Meshes() {
		set.Dataplanes = append(set.Dataplanes, v.Dataplanes(mesh)...)
		set.Policies = append(set.Policies, v.Policies(mesh)...)
	}
	next, err := core.NewView(s.generator.Kinds(), &set)
	if err != nil {
		s.Fatal(err)
	}
	return next
}

func (s *sequence) take(n int) []byte {
	n = min(n, len(s.bytes))
	taken := s.bytes[:n]
	s.bytes = s.bytes[n:]
	return taken
}

func (s *sequence) of(n int) int {
	if b := s.take(1); len(b) > 0 {
		return int(b[0]) % n
	}
	return 0
}

// step makes one batch: some of the resources of a scenario come or change,
// some of the known ones change in one thing, some leave.
func (s *sequence) step() {
	var batch core.Batch
	if len(s.known.policies) > 0 && s.of(3) == 0 {
		s.replaceConfs(&batch)
		s.apply(batch)
		return
	}
	set, err := s.generator.Scenario(s.take(20 + s.of(80))).Load()
	if err != nil {
		s.Fatal(err)
	}
	keep := s.of(4)
	batch.Upsert.Dataplanes = slices.DeleteFunc(set.Dataplanes, func(*resource.Dataplane) bool { return s.of(4) < keep })
	batch.Upsert.Policies = slices.DeleteFunc(set.Policies, func(*resource.Policy) bool { return s.of(4) < keep })
	taken := map[resource.ID]bool{}
	for _, mesh := range []string{"default", "other", "another"} {
		if s.of(8) == 1 {
			m := &resource.Mesh{Meta: resource.Meta{ID: resource.ID{Kind: resource.MeshKind, Mesh: mesh, Name: mesh}}}
			batch.Upsert.Meshes = append(batch.Upsert.Meshes, m)
			taken[m.ID] = true
		}
	}
	for _, d := range batch.Upsert.Dataplanes {
		taken[d.ID] = true
	}
	for _, p := range batch.Upsert.Policies {
		taken[p.ID] = true
	}
	for _, id := range s.known.ids() {
		if taken[id] {
			continue
		}
		switch s.of(12) {
		case 1:
			batch.Delete = append(batch.Delete, id)
		case 2, 3:
			s.mutate(id, &batch)
		}
	}
	s.apply(batch)
}

// replaceConfs makes new versions of some policies that differ from the old
// ones in their confs alone.
func (s *sequence) replaceConfs(batch *core.Batch) {
	for _, id := range s.known.ids() {
		p := s.known.policies[id]
		if p == nil || s.of(6) != 0 {
			continue
		}
		next := *p
		next.Pos.Line++
		next.To, next.From, next.Rules = slices.Clone(p.To), slices.Clone(p.From), slices.Clone(p.Rules)
		for i := range next.To {
			if next.To[i].Conf = p.To[s.of(len(p.To))].Conf; s.of(8) == 0 {
				next.To[i].Conf = p.Type.To.Conf.NewMerger().Conf()
			}
		}
		for i := range next.From {
			next.From[i].Conf = p.From[s.of(len(p.From))].Conf
		}
		for i := range next.Rules {
			next.Rules[i].Conf = p.Rules[s.of(len(p.Rules))].Conf
		}
		batch.Upsert.Policies = append(batch.Upsert.Policies, &next)
	}
}

// mutate changes one thing of a resource.
func (s *sequence) mutate(id resource.ID, batch *core.Batch) {
	if d := s.known.dataplanes[id]; d != nil {
		next := *d
		next.Outbounds, next.Inbounds = slices.Clone(d.Outbounds), slices.Clone(d.Inbounds)
		switch s.of(8) {
		case 0:
			next.Address = fmt.Sprintf("10.0.0.%d", s.of(3))
		case 1:
			next.Labels = resource.NewTags(map[string]string{"app": []string{"x", "y"}[s.of(2)]})
		case 2:
			if len(next.Outbounds) > 0 {
				next.Outbounds = next.Outbounds[1:]
			}
		case 3:
			slices.Reverse(next.Inbounds)
		case 4:
			slices.Reverse(next.Outbounds)
		case 5:
			next.Pos.Line++ // another version that says the same
		case 6:
			for i := range next.Inbounds {
				next.Inbounds[i].Tags = s.tags()
			}
		case 7:
			next.Inbounds, next.Gateway = nil, &resource.GatewayProxy{Builtin: s.of(2) == 1, Tags: s.tags()}
		}
		batch.Upsert.Dataplanes = append(batch.Upsert.Dataplanes, &next)
	}
	if p := s.known.policies[id]; p != nil {
		next := *p
		next.To = slices.Clone(p.To)
		switch s.of(6) {
		case 0: // another version that says the same
			next.Pos.Line++
		case 1:
			labels := map[string]string{}
			if !p.Shadow() {
				labels[resource.EffectLabel] = "shadow"
			}
			next.Labels = resource.NewTags(labels)
		case 2:
			next.TargetRef = resource.TargetRef{Kind: resource.TargetMesh}
		case 3: // that of another policy
			other := s.known.policies[s.known.ids()[s.of(len(s.known.ids()))]]
			if other != nil && p.Type.Top.Has(other.TargetRef.Kind) {
				next.TargetRef = other.TargetRef
			}
		case 4:
			slices.Reverse(next.To)
		case 5:
			if len(next.To) > 0 {
				next.To = next.To[1:]
			}
		}
		batch.Upsert.Policies = append(batch.Upsert.Policies, &next)
	}
}

func (s *sequence) tags() resource.Tags {
	return resource.NewTags(map[string]string{
		resource.ServiceTag: []string{"web", "api"}[s.of(2)],
		"version":           []string{"v1", "v2"}[s.of(2)],
	})
}

// apply applies a batch and checks everything.
func (s *sequence) apply(batch core.Batch) {
	s.Helper()
	commit, err := s.engine.Apply(batch)
	if err != nil {
		s.Fatal(err)
	}
	s.known.apply(batch)
	s.keepKnown(batch, commit.After)
	if err := s.engine.CheckInvariants(); err != nil {
		s.Fatal(err)
	}
	set := s.known.set()
	want, err := core.NewView(s.generator.Kinds(), set)
	if err != nil {
		s.Fatal(err)
	}
	before := s.answers
	s.answers = s.answersOf(commit.After)
	s.checkStrangers(commit.After)
	if len(s.past) > 0 { // commits are told as one, and back
		past := s.past[s.of(len(s.past))]
		s.checkChanges(core.Commit{Before: past.view, After: commit.After}, past.answers, s.answers)
		s.checkChanges(core.Commit{Before: commit.After, After: past.view}, s.answers, past.answers)
		s.checkChanges(core.Commit{Before: past.view, After: want}, past.answers, s.answers)
	}
	s.past = append(s.past, pastView{commit.After, s.answers})
	if diff := cmp.Diff(s.answersOf(want), s.answers, cmp.AllowUnexported(answer{})); diff != "" {
		s.Fatalf("the view is not what it is from nothing: %s", diff)
	}
	if diff := cmp.Diff(want.Count(), commit.After.Count()); diff != "" {
		s.Fatal(diff)
	}
	if diff := cmp.Diff(want.Meshes(), commit.After.Meshes()); diff != "" {
		s.Fatal(diff)
	}
	for _, mesh := range want.Meshes() {
		if !slices.Equal(want.Dataplanes(mesh), commit.After.Dataplanes(mesh)) || !slices.Equal(want.Policies(mesh), commit.After.Policies(mesh)) {
			s.Fatal("the resources differ")
		}
	}
	s.checkChanges(commit, before, s.answers)
}

// keepKnown notes where the engine kept a version that says the same.
func (s *sequence) keepKnown(batch core.Batch, v *core.View) {
	s.Helper()
	for _, d := range batch.Upsert.Dataplanes {
		if kept := v.Dataplane(d.ID); reflect.DeepEqual(kept, d) {
			s.known.dataplanes[d.ID] = kept
		}
	}
	for _, p := range batch.Upsert.Policies {
		if kept := v.Policy(p.ID); reflect.DeepEqual(kept, p) {
			s.known.policies[p.ID] = kept
		}
	}
}

func (s *sequence) answersOf(v *core.View) answers {
	out := answers{}
	for _, mesh := range v.Meshes() {
		for _, d := range v.Dataplanes(mesh) {
			out[d.ID] = [2]answer{s.answer(v, d, false), s.answer(v, d, true)}
		}
	}
	return out
}

// checkStrangers compares what is kept for dataplanes with what is evaluated
// for others that are like them (rules.Evaluate).
func (s *sequence) checkStrangers(v *core.View) {
	for id, known := range s.answers {
		stranger := *v.Dataplane(id)
		if got := s.answer(v, &stranger, false); got.all != known[0].all {
			s.Fatalf("%s would get something else if it came now: %s", id.Name, cmp.Diff(known[0].all, got.all))
		}
	}
}

func (s *sequence) answer(v *core.View, d *resource.Dataplane, shadow bool) answer {
	a, err := inspect.NewDataplane(v, d, inspect.Options{Shadow: shadow, Explain: true})
	if err != nil {
		s.Fatal(err)
	}
	var buffer match.Buffer
	n := 0
	for _, c := range v.Configs(d, core.Scope{Shadow: shadow}) {
		n += len(c.Matched)
	}
	if selected := v.Select(d, core.Scope{Shadow: shadow}, &buffer); len(selected) != n {
		s.Fatalf("%s is selected by %d policies, and has configs of %d", d.Name, len(selected), n)
	}
	return answer{s.json(a), s.placesOf(v.Configs(d, core.Scope{Shadow: shadow}))}
}

// placesOf renders what stands where confs can stand.
func (s *sequence) placesOf(configs []*rules.Config) map[rules.Place]string {
	places := map[rules.Place]string{}
	for _, c := range configs {
		if c.Default != nil {
			places[rules.Place{Policies: c.Kind.Name, Kind: rules.AtDefault}] = s.text(c.Default)
		}
		for i, o := range c.Outbounds {
			if o.Effective != nil {
				places[rules.Place{Policies: c.Kind.Name, Kind: rules.AtOutbound, Index: i}] = s.text(o.Effective)
			}
			for _, r := range o.Routes {
				places[rules.Place{Policies: c.Kind.Name, Kind: rules.AtRoute, Index: i, Route: r.Route.ID}] = r.Route.KRI() + s.text(r.Effective)
			}
		}
		for i, in := range c.Inbounds {
			if text := s.inboundText(&in); text != "" {
				places[rules.Place{Policies: c.Kind.Name, Kind: rules.AtInbound, Index: i}] = text
			}
		}
	}
	return places
}

func (s *sequence) inboundText(in *rules.InboundConfig) string {
	var text strings.Builder
	for _, r := range in.Rules {
		text.WriteString(s.json(r.Match) + s.text(r.Effective))
	}
	for _, item := range in.Unmerged {
		text.WriteString(originText(item.Origin) + s.json(item.Conf))
	}
	if in.From != nil {
		for _, o := range in.From.Origins() {
			text.WriteString("from " + originText(o))
		}
		disjoint, err := in.From.Disjoint(partition.Limits{})
		if err != nil {
			s.Fatal(err)
		}
		for _, r := range disjoint {
			text.WriteString(r.Selector.String() + s.text(r.Effective))
		}
	}
	if in.FromIgnored {
		text.WriteString("from is ignored")
	}
	return text.String()
}

// text renders a conf with its origins, those of its fields too.
func (s *sequence) text(e *rules.Effective) string {
	if e == nil {
		return "nothing"
	}
	text := s.json(e.Conf)
	for _, o := range e.Origins {
		text += " by " + originText(o)
	}
	for field, o := range e.Fields() {
		text += " " + field + " by " + originText(o)
	}
	return text
}

func originText(o rules.Origin) string { return fmt.Sprintf("%s[%d]", o.Policy.KRI(), o.Index) }

func (s *sequence) json(v any) string {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		s.Fatal(err)
	}
	return string(data)
}

// checkChanges compares what a commit tells with what the answers say.
func (s *sequence) checkChanges(commit core.Commit, before, after answers) {
	s.Helper()
	told := map[resource.ID]core.Change{}
	for _, c := range commit.Changes() {
		list := c.Dataplanes()
		if len(list) != c.Len() || len(list) == 0 {
			s.Fatalf("a change has %d dataplanes and says %d", len(list), c.Len())
		}
		for _, d := range list {
			if _, twice := told[d.ID]; twice {
				s.Fatalf("%s is in two changes", d.Name)
			}
			told[d.ID] = c
		}
	}
	for id, then := range before {
		if _, stays := after[id]; !stays {
			s.checkChange(id, told, core.Left, then, [2]answer{})
		}
	}
	for id, now := range after {
		then, was := before[id]
		switch {
		case !was:
			s.checkChange(id, told, core.Joined, [2]answer{}, now)
		case !saysTheSame(commit.Before.Dataplane(id), commit.After.Dataplane(id)):
			s.checkChange(id, told, core.Changed, then, now)
		default:
			c, ok := told[id]
			if ok && (c.Action != core.Changed || c.Itself || len(c.Policies) == 0 || len(c.Places)+len(c.Shadow) == 0) {
				s.Fatalf("%s %v, itself %v, by %v, %v", id.Name, c.Action, c.Itself, c.Policies, c.Places)
			}
			s.checkPlaces(id, &c, then, now)
		}
	}
}

// checkChange expects that a dataplane's own resource changed.
func (s *sequence) checkChange(id resource.ID, told map[resource.ID]core.Change, action core.Action, then, now [2]answer) {
	s.Helper()
	c, ok := told[id]
	if !ok || c.Action != action || !c.Itself {
		s.Fatalf("%s: want %v, got %v, itself %v", id.Name, action, c.Action, c.Itself)
	}
	s.checkPlaces(id, &c, then, now)
}

// checkPlaces compares the places that are told with those that have another
// text.
func (s *sequence) checkPlaces(id resource.ID, c *core.Change, then, now [2]answer) {
	s.Helper()
	for scope, places := range [][]rules.Place{c.Places, c.Shadow} {
		s.checkScope(id, places, then[scope], now[scope])
	}
}

// checkScope is checkPlaces for one scope. A `from` may have other items and the same rules.
func (s *sequence) checkScope(id resource.ID, places []rules.Place, then, now answer) {
	s.Helper()
	for _, p := range places {
		if p.Kind != rules.AtInbound && then.places[p] == now.places[p] {
			s.Fatalf("%s: %v is told, and stays %s", id.Name, p, now.places[p])
		}
	}
	for _, side := range []answer{then, now} {
		for p := range side.places {
			if then.places[p] != now.places[p] && !slices.Contains(places, p) {
				s.Fatalf("%s: %v is not told, and becomes from %s to %s", id.Name, p, then.places[p], now.places[p])
			}
		}
	}
}

// saysTheSame compares dataplanes without their positions.
func saysTheSame(a, b *resource.Dataplane) bool {
	x, y := *a, *b
	x.Pos, y.Pos = strict.Position{}, strict.Position{}
	return reflect.DeepEqual(x, y)
}

func (w *world) apply(b core.Batch) {
	for _, id := range b.Delete {
		delete(w.meshes, id)
		delete(w.dataplanes, id)
		delete(w.policies, id)
	}
	for _, m := range b.Upsert.Meshes {
		w.meshes[m.ID] = m
	}
	for _, d := range b.Upsert.Dataplanes {
		w.dataplanes[d.ID] = d
	}
	for _, p := range b.Upsert.Policies {
		w.policies[p.ID] = p
	}
}

// ids returns all identities, sorted.
func (w *world) ids() []resource.ID {
	var ids []resource.ID
	for id := range w.meshes {
		ids = append(ids, id)
	}
	for id := range w.dataplanes {
		ids = append(ids, id)
	}
	for id := range w.policies {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, resource.ID.Compare)
	return ids
}

// set returns the resources in an order that is not sorted.
func (w *world) set() *resource.Set {
	var set resource.Set
	for _, m := range w.meshes {
		set.Meshes = append(set.Meshes, m)
	}
	for _, d := range w.dataplanes {
		set.Dataplanes = append(set.Dataplanes, d)
	}
	for _, p := range w.policies {
		set.Policies = append(set.Policies, p)
	}
	return &set
}
