package core_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/enforce/enforcetest"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/fuzz"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// TestEnforcementSequences applies random batches of placements, bindings, policies and
// dataplanes. After each batch, the reference and a new view enforce the same policies on
// each dataplane, and the commit's changes are the dataplanes whose list of
// enforced policies changed.
func TestEnforcementSequences(t *testing.T) {
	sequences := uint64(40)
	if testing.Short() {
		sequences = 8
	}
	for seed := range sequences {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 83))
			newEnforcementSequence(t, fuzz.RandomBytes(random, 2_000)).run()
		})
	}
}

type enforcementSequence struct {
	*testing.T
	*enforcetest.Choices
	engine    *core.Engine
	documents enforcetest.World
	set       *resource.Set // of the mesh; all of it may be in the engine
	present   map[resource.ID]bool
	policies  map[resource.ID]*resource.Policy // versions in the engine
}

func newEnforcementSequence(t *testing.T, data []byte) *enforcementSequence {
	return &enforcementSequence{
		T: t, Choices: enforcetest.NewChoices(data),
		engine:    core.NewEngine(kinds.All(), core.Options{Semantics: core.TargetRef}),
		documents: enforcetest.World{}, set: enforcetest.MeshSet(),
		present: map[resource.ID]bool{}, policies: map[resource.ID]*resource.Policy{},
	}
}

func (s *enforcementSequence) run() {
	for s.More() && !s.Failed() {
		batch := core.Batch{Upsert: new(resource.Set)}
		for range 1 + s.Below(6) {
			s.change(&batch)
		}
		before := s.enforced(s.engine.View())
		commit, err := s.engine.Apply(context.Background(), batch)
		if err != nil {
			s.Fatal(err)
		}
		if err := s.engine.CheckInvariants(); err != nil {
			s.Fatal(err)
		}
		now := s.enforced(commit.After)
		s.checkReference(now)
		s.checkChanges(commit, before, now)
	}
}

// change adds a change of one resource to a batch that does not have the resource yet.
func (s *enforcementSequence) change(batch *core.Batch) {
	switch s.Below(6) {
	case 0:
		d := s.set.Dataplanes[s.Below(len(s.set.Dataplanes))]
		if !s.taken(batch, d.ID) {
			s.toggle(batch, d.ID, func() { batch.Upsert.Dataplanes = append(batch.Upsert.Dataplanes, d) })
		}
	case 1:
		s.changePolicy(batch, s.set.Policies[s.Below(len(s.set.Policies))])
	default:
		r := s.Resource()
		id := r.Identity().ID
		switch {
		case s.taken(batch, id):
		case s.documents[id] != nil && s.Below(3) == 0:
			batch.Delete = append(batch.Delete, id)
			delete(s.documents, id)
		default:
			batch.Upsert.Documents = append(batch.Upsert.Documents, ocm.NewDocument(r))
			s.documents[id] = r
		}
	}
}

func (s *enforcementSequence) changePolicy(batch *core.Batch, p *resource.Policy) {
	if s.taken(batch, p.ID) {
		return
	}
	next := *p
	if next.Labels = nil; s.Below(3) > 0 {
		next.Labels = resource.Tags{{Key: resource.EffectLabel, Value: "shadow"}}
	}
	if s.Below(3) == 0 {
		next.TargetRef = resource.TargetRef{Kind: resource.TargetDataplane, Labels: resource.Tags{{Key: "k", Value: "1"}}}
	}
	s.toggle(batch, p.ID, func() {
		batch.Upsert.Policies = append(batch.Upsert.Policies, &next)
		s.policies[p.ID] = &next
	})
}

// toggle sometimes deletes what is present; otherwise it upserts it.
func (s *enforcementSequence) toggle(batch *core.Batch, id resource.ID, upsert func()) {
	if s.present[id] && s.Below(4) == 0 {
		batch.Delete = append(batch.Delete, id)
		s.present[id] = false
		return
	}
	upsert()
	s.present[id] = true
}

func (s *enforcementSequence) taken(batch *core.Batch, id resource.ID) bool {
	same := func(other resource.ID) bool { return other == id }
	return slices.ContainsFunc(batch.Delete, same) ||
		slices.ContainsFunc(batch.Upsert.Dataplanes, func(d *resource.Dataplane) bool { return d.ID == id }) ||
		slices.ContainsFunc(batch.Upsert.Policies, func(p *resource.Policy) bool { return p.ID == id }) ||
		slices.ContainsFunc(batch.Upsert.Documents, func(d *resource.Document) bool { return d.ID == id })
}

// enforced returns the policies that are enforced, by dataplane.
func (s *enforcementSequence) enforced(view *core.View) map[resource.ID][]string {
	all := map[resource.ID][]string{}
	for _, d := range view.Dataplanes("m") {
		all[d.ID] = []string{}
		for _, config := range view.Configs(d, core.Enforced) {
			for _, m := range config.Matched.All() {
				all[d.ID] = append(all[d.ID], m.Policy.Namespace+"/"+m.Policy.Name)
			}
		}
		slices.Sort(all[d.ID])
	}
	return all
}

// checkReference compares with the reference, and with a new view.
func (s *enforcementSequence) checkReference(got map[resource.ID][]string) {
	set := &resource.Set{}
	for _, d := range s.set.Dataplanes {
		if s.present[d.ID] {
			set.Dataplanes = append(set.Dataplanes, d)
		}
	}
	for _, p := range s.set.Policies {
		if s.present[p.ID] {
			set.Policies = append(set.Policies, s.policies[p.ID])
		}
	}
	hub := s.documents.Hub()
	want := map[resource.ID][]string{}
	for _, d := range set.Dataplanes {
		want[d.ID] = []string{}
		for _, p := range naive.EnforcedPolicies(set, hub, d) {
			want[d.ID] = append(want[d.ID], p.Namespace+"/"+p.Name)
		}
		slices.Sort(want[d.ID])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.Errorf("policies that are enforced (-reference +engine):\n%s", diff)
	}
	for _, r := range s.documents {
		set.Documents = append(set.Documents, ocm.NewDocument(r))
	}
	view, err := core.Options{Semantics: core.TargetRef}.NewView(context.Background(), kinds.All(), set)
	if err != nil {
		s.Fatal(err)
	}
	if diff := cmp.Diff(want, s.enforced(view)); diff != "" {
		s.Errorf("policies that are enforced (-reference +new view):\n%s", diff)
	}
}

// checkChanges checks that every dataplane whose list of enforced policies changed is in
// a change with a cause.
func (s *enforcementSequence) checkChanges(commit core.Commit, before, now map[resource.ID][]string) {
	changed := map[resource.ID]*core.Change{}
	changes := commit.Changes()
	for i := range changes {
		for _, d := range changes[i].Dataplanes() {
			changed[d.ID] = &changes[i]
		}
	}
	for id, list := range now {
		old, was := before[id]
		switch c := changed[id]; {
		case !was || slices.Equal(old, list):
		case c == nil:
			s.Errorf("%s was selected by %v, is by %v, and is in no change", id.Name, old, list)
		case !c.OwnResource && len(c.Policies)+len(c.Bindings) == 0:
			s.Errorf("%s was selected by %v, is by %v, and the change has no cause", id.Name, old, list)
		}
	}
}
