package enforce_test

import (
	"context"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/enforce/enforcetest"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/fuzz"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// FuzzEnforce derives a sequence of edits from the bytes. After each edit it compares
// the state with the reference, and with the state of the same resources in another
// order, and the delta with what changed.
//
//fuzz:executions 300
func FuzzEnforce(f *testing.F) {
	r := rand.New(rand.NewPCG(12, 8))
	for range 60 {
		f.Add(fuzz.RandomBytes(r, 400))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 2_000 {
			t.Skip("long inputs find nothing that short ones do not")
		}
		c, now, state := enforcetest.NewChoices(data), enforcetest.World{}, enforce.Empty()
		for c.More() {
			e := state.Edit()
			before := maps.Clone(now)
			for range 1 + c.Below(12) {
				r := c.Resource()
				id := r.Identity().ID
				if c.Below(4) == 1 {
					e.Remove(id)
					delete(now, id)
				} else {
					e.Put(r)
					now[id] = r
				}
			}
			next, delta := e.Commit()
			check(t, next, now)
			checkDelta(t, state, next, delta)
			if t.Failed() {
				t.Fatalf("after an edit of %v\nto %v", keys(before), keys(now))
			}
			state = next
		}
	})
}

var meshView = sync.OnceValue(func() *core.View {
	view, err := core.Options{Semantics: core.TargetRef}.NewView(context.Background(), kinds.All(), enforcetest.MeshSet())
	if err != nil {
		panic(err)
	}
	return view
})

// answer returns what the command placement prints for a state.
func answer(state *enforce.Hub) map[string]any {
	policies := []any{}
	add := func(m *resource.Meta, action string, targets []any) {
		entry := map[string]any{"kind": m.Kind, "name": m.Name, "remediationAction": action, "targets": targets}
		if m.Namespace != "" {
			entry["namespace"] = m.Namespace
		}
		policies = append(policies, entry)
	}
	view := meshView()
	for _, p := range view.Policies("m") { // each selects every dataplane
		if !p.Shadow() && len(state.Bindings(&p.ID)) == 0 {
			continue
		}
		targets := []any{}
		for _, d := range view.Dataplanes("m") {
			target := state.MeshTarget(p, d)
			targets = append(targets, map[string]any{"dataplane": d.KRI(""), "action": target.Action.String(), "because": append([]string{}, target.Because...)})
		}
		slices.SortFunc(targets, func(a, b any) int {
			return cmpString(a.(map[string]any)["dataplane"].(string), b.(map[string]any)["dataplane"].(string))
		})
		add(&p.Meta, map[bool]string{true: "inform", false: "enforce"}[p.Shadow()], targets)
	}
	for effect := range state.Effects() { // Policy is after MeshTimeout
		targets := []any{}
		for cluster, target := range state.Targets(effect) {
			targets = append(targets, map[string]any{"cluster": cluster, "action": target.Action.String(), "because": target.Because})
		}
		add(&effect.Policy.Meta, effect.Policy.Action.String(), targets)
	}
	return map[string]any{"policies": policies}
}

// check compares a state with the reference, and with a state that is made of the same
// resources in another order.
func check(t *testing.T, state *enforce.Hub, now enforcetest.World) {
	t.Helper()
	resources := now.Resources()
	want := text(t, naive.Placements(enforcetest.MeshSet(), now.Hub(), "m"))
	if diff := cmp.Diff(want, text(t, answer(state))); diff != "" {
		t.Errorf("the incremental state differs from the reference (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, text(t, answer(stateOf(resources)))); diff != "" {
		t.Errorf("a new state differs from the reference (-want +got):\n%s", diff)
	}
	for id, r := range now {
		if state.Resource(id) != r {
			t.Errorf("%v is %v, not %v", id, state.Resource(id), r)
		}
	}
}

// checkDelta checks that a delta contains each change for the policies of meshes.
func checkDelta(t *testing.T, before, after *enforce.Hub, delta *enforce.Delta) {
	t.Helper()
	view := meshView()
	for _, p := range view.Policies("m") {
		if !slices.Equal(before.Overrides(&p.ID), after.Overrides(&p.ID)) && !slices.Contains(slices.Collect(delta.Policies("m")), p.ID) {
			t.Errorf("the delta has no %s, whose overrides changed", p.Name)
		}
	}
	for _, d := range view.Dataplanes("m") {
		then, now := placements(before, d), placements(after, d)
		for _, placement := range now {
			if !contains(after.Regions(placement), d) {
				t.Errorf("%s is in %s, and not in its regions", d.Name, placement)
			}
		}
		for _, p := range view.Policies("m") {
			if p.Shadow() {
				checkOverride(t, after, p, d, now)
			}
		}
		if slices.Equal(then, now) {
			continue
		}
		for _, placement := range append(then, now...) {
			if slices.Contains(then, placement) != slices.Contains(now, placement) && !moved(delta, placement, d) {
				t.Errorf("the delta has no %s with a region of %s, which entered or left it", placement, d.Name)
			}
		}
	}
}

// checkOverride checks that the placements of a dataplane alone determine whether a
// policy is enforced on it.
func checkOverride(t *testing.T, s *enforce.Hub, p *resource.Policy, d *resource.Dataplane, placements []enforce.Placement) {
	t.Helper()
	overridden := slices.ContainsFunc(s.Overrides(&p.ID), func(o enforce.Placement) bool { return slices.Contains(placements, o) })
	if target := s.MeshTarget(p, d); overridden != (target.Action == ocm.Enforce) {
		t.Errorf("%s on %s: %v, but %v of %v", p.Name, d.Name, target, s.Overrides(&p.ID), placements)
	}
}

func placements(s *enforce.Hub, d *resource.Dataplane) []enforce.Placement {
	list := s.AppendPlacements(nil, d)
	slices.SortFunc(list, func(a, b enforce.Placement) int { return cmpString(a.String(), b.String()) })
	return list
}

// moved reports whether a delta contains a placement with a region of a dataplane.
func moved(delta *enforce.Delta, placement enforce.Placement, d *resource.Dataplane) bool {
	return slices.ContainsFunc(delta.Moved, func(m enforce.Moved) bool {
		return m.Placement == placement && contains(m.Regions, d)
	})
}

func contains(regions []enforce.Region, d *resource.Dataplane) bool {
	zone := enforce.ZoneOf(d)
	return slices.ContainsFunc(regions, func(r enforce.Region) bool {
		inZone := r.Anywhere || zone != "" && (r.Every || slices.Contains(r.Zones, zone))
		return inZone && d.Labels.Contains(r.Labels) && (r.Names == nil || slices.Contains(r.Names, d.Name))
	})
}

func cmpString(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func text(t *testing.T, answer any) string {
	t.Helper()
	data, err := json.MarshalIndent(answer, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(data, &tree); err != nil {
		t.Fatal(err)
	}
	data, _ = json.MarshalIndent(tree, "", " ")
	return string(data)
}

func keys(w enforcetest.World) []resource.ID {
	return slices.SortedFunc(maps.Keys(w), resource.ID.Compare)
}
