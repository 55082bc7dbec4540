package match_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/match"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

func names(selected []results.Selected, d *resource.Dataplane) []string {
	var out []string
	for _, s := range selected {
		line := s.Policy.Kind + " " + s.Policy.Namespace + "/" + s.Policy.Name
		for i := range d.Inbounds {
			if s.Inbounds.Has(i) {
				line += " " + d.Inbounds[i].SectionName()
			}
		}
		out = append(out, line)
	}
	return out
}

// A writer maintains, like an engine, a selection in both scopes for each class. It
// selects again only if an edit reaches the class.
type writer struct {
	index          *match.Index
	policies       map[resource.ID]*resource.Policy
	dataplanes     []*resource.Dataplane // by number; nil: none
	dataplaneIndex *match.DataplaneIndex
	classes        *match.Classes[struct{}]
	classOf        []*match.Class[struct{}] // by dataplane
	members        map[*match.Class[struct{}]]int
	selections     map[*match.Class[struct{}]][2][]results.Selected // by scope
	buffer         match.Buffer
	kept           int // changes of dataplanes that selectors do not see
}

func newWriter(dataplanes int) *writer {
	return &writer{
		index: match.Empty(semantics.Reading{}), policies: map[resource.ID]*resource.Policy{},
		dataplanes: make([]*resource.Dataplane, dataplanes), classOf: make([]*match.Class[struct{}], dataplanes),
		dataplaneIndex: match.NewDataplaneIndex(semantics.TargetRef), classes: match.NewClasses[struct{}](),
		members: map[*match.Class[struct{}]]int{}, selections: map[*match.Class[struct{}]][2][]results.Selected{},
	}
}

// edit puts and removes policies at random.
func (w *writer) edit(t *testing.T, r *rand.Rand) *match.Editor {
	e := w.index.Edit()
	for range r.IntN(4) {
		p := randomPolicy(r)
		if had := w.policies[p.ID]; had != nil && r.IntN(3) == 0 { // only the confs change
			again := *had
			again.Labels = oneOf(r, had.Labels, p.Labels)
			p = &again
		}
		if r.IntN(3) == 0 {
			if had := w.policies[p.ID] != nil; e.Remove(p.ID) != had {
				t.Fatal("Remove reports the wrong result")
			}
			delete(w.policies, p.ID)
		} else {
			e.Put(p)
			w.policies[p.ID] = p
		}
	}
	return e
}

// move changes dataplanes at random and returns their numbers. Their classes are by the policies
// of now.
func (w *writer) move(t *testing.T, r *rand.Rand, now *match.Index) (changed []uint32) {
	for range r.IntN(3) {
		n := uint32(r.IntN(len(w.dataplanes)))
		var next *resource.Dataplane
		if r.IntN(4) > 0 {
			next = randomDataplane(r, fmt.Sprintf("d%d", n))
		}
		old := w.dataplanes[n]
		if old != nil && next != nil && r.IntN(2) == 0 {
			next = similar(r, old)
		}
		by := w.dataplaneIndex.Replace(n, old, next)
		if old != nil && next != nil && now.SameClass(old, next, by) {
			w.kept++
			all := match.NewClasses[struct{}]()
			if all.Classify(now, old, &w.buffer) != all.Classify(now, next, &w.buffer) {
				t.Fatalf("%v and %v are not in one class", old, next)
			}
		}
		w.dataplanes[n] = next
		changed = append(changed, n)
	}
	return changed
}

// follow updates classes and selections to a new version of the index.
func (w *writer) follow(t *testing.T, next *match.Index, delta *match.Delta, changed []uint32) {
	reached := w.dataplaneIndex.Reached(delta, nil)
	if !slices.IsSorted(reached) || len(slices.Compact(slices.Clone(reached))) != len(reached) {
		t.Fatalf("reached %v", reached)
	}
	var left []*match.Class[struct{}]
	if placed := w.dataplaneIndex.ReachedByPlacements(delta, nil); len(placed) > 0 {
		t.Fatalf("placements reach %v, and there are none", placed)
	}
	for _, n := range append(reached, changed...) {
		if old := w.classOf[n]; old != nil {
			w.members[old]--
			left = append(left, old)
		}
		w.classOf[n] = nil
		if d := w.dataplanes[n]; d != nil {
			c := w.classes.Classify(next, d, &w.buffer)
			w.classOf[n] = c
			w.members[c]++
			if _, known := w.selections[c]; !known {
				w.reselect(next, c)
			}
		}
	}
	last := -1
	for _, c := range w.classes.Reached(delta) {
		if int(c.Number()) <= last {
			t.Fatal("classes are not sorted and distinct")
		}
		last = int(c.Number())
		w.reselect(next, c)
	}
	for _, c := range left {
		if n, known := w.members[c]; known && n == 0 {
			w.classes.Drop(c)
			delete(w.members, c)
			delete(w.selections, c)
		}
	}
	w.index = next
}

func (w *writer) reselect(x *match.Index, c *match.Class[struct{}]) {
	var made [2][]results.Selected
	for scope := range made {
		made[scope] = slices.Clone(c.Select(x, results.Scope(scope), &w.buffer))
	}
	w.selections[c] = made
}

// After any sequence of edits, an index selects by the definition, for dataplanes and
// for their classes; earlier versions do not change; and what an edit reaches includes
// everything that changes.
func TestEditing(t *testing.T) {
	kept := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 11))
		w := newWriter(6)
		for round := range 25 {
			before, had := w.index, slices.Collect(maps.Values(w.policies))
			e := w.edit(t, r)
			next, delta, err := e.Commit()
			if err != nil {
				t.Fatal(err)
			}
			policies := slices.Collect(maps.Values(w.policies))
			checkReplaced(t, w, policies, delta)
			w.follow(t, next, delta, w.move(t, r, next))
			if next.Len() != len(policies) || len(slices.Collect(next.All())) != len(policies) {
				t.Fatalf("%d policies, want %d", next.Len(), len(policies))
			}
			if informs := slices.ContainsFunc(policies, (*resource.Policy).Shadow); next.HasInforming() != informs {
				t.Fatalf("HasInforming is %v", !informs)
			}
			checkSince(t, before, next)
			if len(w.members) != w.classes.Len() {
				t.Fatalf("%d classes, %d are left", len(w.members), w.classes.Len())
			}
			for n, d := range w.dataplanes {
				if d == nil {
					continue
				}
				if number := w.classOf[n].Number(); int(number) >= len(w.dataplanes)*2 {
					t.Fatalf("class %d of %d dataplanes", number, len(w.dataplanes))
				}
				for _, scope := range []results.Scope{results.Shadow, results.Enforced} {
					who := fmt.Sprintf("seed %d, round %d", seed, round)
					checkSelection(t, who, policies, d, scope, next.Select(d, scope, &w.buffer))
					checkSelection(t, who+", its class", policies, d, scope, w.selections[w.classOf[n]][scope])
					checkSelection(t, who+", the previous version", had, d, scope, before.Select(d, scope, &w.buffer))
				}
			}
		}
		kept += w.kept
	}
	if kept < 500 {
		t.Errorf("%d changes of dataplanes kept the class by their difference alone", kept)
	}
}

// checkReplaced checks an edit that only replaced the confs of policies: the previous
// selections are correct once the new versions replace the old ones.
func checkReplaced(t *testing.T, w *writer, policies []*resource.Policy, delta *match.Delta) {
	t.Helper()
	replaced := delta.Replaced()
	if replaced == nil {
		return
	}
	for n, d := range w.dataplanes {
		if d == nil {
			continue
		}
		for scope, selected := range w.selections[w.classOf[n]] {
			selected = slices.Clone(selected)
			for i := range selected {
				if p := replaced[selected[i].Policy]; p != nil {
					selected[i].Policy = p
				}
			}
			checkSelection(t, "with replaced policies", policies, d, results.Scope(scope), selected)
		}
	}
}

// checkSince checks that the pairs lead from one version to the other.
func checkSince(t *testing.T, before, after *match.Index) {
	t.Helper()
	policies := map[*resource.Policy]int{}
	for p := range before.All() {
		policies[p]++
	}
	for then, now := range after.Since(before) {
		if then == now {
			t.Fatal("an unchanged policy is yielded")
		}
		if then != nil {
			policies[then]--
		}
		if now != nil {
			policies[now]++
		}
	}
	for p := range after.All() {
		policies[p]--
	}
	for p, n := range policies {
		if n != 0 {
			t.Fatalf("%s %q is yielded with a wrong version", p.Kind, p.Name)
		}
	}
	for range after.Since(before) {
		break // the iteration must stop
	}
}

func TestClassesDistinguishWhatSelectorsDo(t *testing.T) {
	x, err := match.NewIndex([]*resource.Policy{policy("K", "p", resource.TargetRef{Kind: resource.TargetMeshSubset, Tags: tags("version=v1")})}, semantics.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	changed := func(change func(*resource.Dataplane)) *resource.Dataplane {
		d := *web
		d.Inbounds = slices.Clone(web.Inbounds)
		change(&d)
		return &d
	}
	classes := match.NewClasses[struct{}]()
	var buffer match.Buffer
	class := classes.Classify(x, web, &buffer)
	for name, c := range map[string]struct {
		dataplane *resource.Dataplane
		same      bool
	}{
		"another name":       {changed(func(d *resource.Dataplane) { d.Name = "web-2" }), true},
		"another service":    {changed(func(d *resource.Dataplane) { d.Inbounds[0].Tags = service("api", "version=v1") }), true},
		"another version":    {changed(func(d *resource.Dataplane) { d.Inbounds[0].Tags = service("web", "version=v2") }), false},
		"inbounds exchanged": {changed(func(d *resource.Dataplane) { slices.Reverse(d.Inbounds) }), false},
		"one inbound":        {changed(func(d *resource.Dataplane) { d.Inbounds = d.Inbounds[:1] }), false},
		"no inbounds":        {changed(func(d *resource.Dataplane) { d.Inbounds = nil }), false},
	} {
		other := classes.Classify(x, c.dataplane, &buffer)
		if got := other == class; got != c.same {
			t.Errorf("%s: same class %v, want %v", name, got, c.same)
		}
		if got := other.SameButPlacements(class); got != c.same { // there are no placements
			t.Errorf("%s: same but placements %v, want %v", name, got, c.same)
		}
	}
	bareClass, one := classes.Classify(x, bare, &buffer), classes.Classify(x, changed(func(d *resource.Dataplane) {
		d.Inbounds = []resource.Inbound{{Port: 1, Tags: service("api")}}
	}), &buffer)
	if bareClass == one {
		t.Error("a dataplane without inbounds is in the class of one with an inbound that no selector requires")
	}
	n := classes.Len()
	classes.Drop(one)
	if classes.Len() != n-1 || classes.Classify(x, bare, &buffer) != bareClass {
		t.Error("the wrong class was dropped")
	}
}

func TestCommitWithoutOrder(t *testing.T) {
	x, err := match.NewIndex([]*resource.Policy{policy("K", "a", resource.TargetRef{Kind: resource.TargetMesh})}, semantics.Reading{Order: func(a, b *resource.Policy) int { return 0 }})
	if err != nil {
		t.Fatal(err)
	}
	e := x.Edit()
	e.Put(policy("K", "b", resource.TargetRef{Kind: resource.TargetMesh}))
	want := `the order of policies is not strict and total: neither of K "a" in mesh "default" and K "b" in mesh "default" overrides the other`
	if _, _, err := e.Commit(); !errors.Is(err, results.ErrNoOrder) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if x.Len() != 1 {
		t.Error("the index was changed")
	}
}
