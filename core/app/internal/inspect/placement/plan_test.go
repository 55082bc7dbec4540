package placement_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/placement"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
)

// planned returns a mesh with a policy that informs on the dataplanes with the label
// app=web.
func planned(t *testing.T, names []string, documents ...any) *core.View {
	t.Helper()
	set := &resource.Set{}
	for _, name := range names {
		var n int
		if _, err := fmt.Sscanf(name, "dp-%d", &n); err != nil {
			t.Fatal(err)
		}
		d := &resource.Dataplane{Address: "10.0.0.1"}
		d.ID = resource.ID{Kind: resource.DataplaneKind, Mesh: "m", Name: name}
		labels := map[string]string{"app": []string{"web", "web", "web", "db"}[n%4], "team": fmt.Sprint(n % 7)}
		if n%5 == 0 {
			delete(labels, "team")
		}
		if n%3 > 0 {
			labels[resource.ZoneTag] = fmt.Sprint("zone-", n%3)
		}
		d.Namespace, d.Labels = []string{"", "a"}[n%2], resource.NewTags(labels)
		set.Dataplanes = append(set.Dataplanes, d)
	}
	p, err := meshtimeout.New("m", "web").Label(resource.EffectLabel, "shadow").
		Select(resource.TargetRef{Kind: resource.TargetDataplane, Labels: resource.NewTags(map[string]string{"app": "web"})}).
		To(resource.WholeMesh(), meshtimeout.Conf{IdleTimeout: new(conf.Duration(time.Second))}).Policy()
	if err != nil {
		t.Fatal(err)
	}
	set.Policies = []*resource.Policy{p}
	loader := resource.Loader{Kinds: kinds.All(), Documents: ocm.Documents()}
	for _, document := range documents {
		data, err := inspect.JSON(document)
		if err != nil {
			t.Fatal(err)
		}
		loader.Stdin = strings.NewReader(string(data))
		read, err := loader.Load(t.Context(), resource.Stdin)
		if err != nil {
			t.Fatal(err)
		}
		set.Documents = append(set.Documents, read.Documents...)
	}
	view, err := core.Options{Semantics: core.TargetRef}.NewView(t.Context(), kinds.All(), set)
	if err != nil {
		t.Fatal(err)
	}
	return view
}

func namesTo(n int) []string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprint("dp-", i))
	}
	return names
}

// enforcedBy returns the dataplanes on which the documents of a wave enforce the policy,
// and the number of selected dataplanes.
func enforcedBy(t *testing.T, names []string, wave *placement.Wave) (enforced []string, selected int) {
	t.Helper()
	view := planned(t, names, wave.Rule, wave.Binding)
	targets := placement.New(view, "m").Policies[0].Targets
	for _, target := range targets {
		if target.Action == "enforce" {
			enforced = append(enforced, target.Name)
		}
	}
	of, err := view.SelectedBy(view.Policies("m")[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, s := range of {
		if s.Enforced {
			count++
		}
	}
	if count != len(enforced) {
		t.Errorf("the engine enforces on %d dataplanes, the placement on %d", count, len(enforced))
	}
	return enforced, len(targets)
}

func plan(t *testing.T, names []string, by string, percent ...int) *placement.Plan {
	t.Helper()
	view := planned(t, names)
	answer, err := placement.NewPlan(view, view.Policies("m")[0], placement.PlanQuery{Percent: percent, By: by})
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// The documents of each wave enforce the policy on its share, including the dataplanes of
// the earlier waves.
func TestPlanEnforcesOnShares(t *testing.T) {
	percent := []int{1, 10, 33, 50, 99, 100}
	for _, n := range []int{2, 10, 41} {
		names := namesTo(n)
		for _, by := range []string{"", "team", resource.ZoneTag} {
			var before []string
			for i, wave := range plan(t, names, by, percent...).Waves {
				got, selected := enforcedBy(t, names, &wave)
				share := (selected*percent[i] + 99) / 100
				if len(got) != wave.Dataplanes || len(got) < share || by == "" && len(got) != share {
					t.Errorf("%d %% of %d by %q: %d dataplanes, the wave has %d", percent[i], selected, by, len(got), wave.Dataplanes)
				}
				for _, name := range before {
					if !slices.Contains(got, name) {
						t.Errorf("%d %% of %d by %q lacks %s of the wave before", percent[i], selected, by, name)
					}
				}
				before = got
			}
		}
	}
}

// Unless the plan is by a label, only a wave of 100 % selects dataplanes that are
// added later.
func TestPlanDoesNotSelectWhatComes(t *testing.T) {
	for _, by := range []string{"", "team"} {
		waves := plan(t, []string{"dp-0", "dp-1", "dp-2"}, by, 99, 100).Waves
		for i, want := range []int{3, 30} {
			if got, _ := enforcedBy(t, namesTo(40), &waves[i]); len(got) != want {
				t.Errorf("%d %% by %q: %d dataplanes, want %d", waves[i].Percent, by, len(got), want)
			}
		}
	}
}

// If one dataplane is added or removed, at most one other dataplane enters or
// leaves a wave.
func TestPlanChangesLeast(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	names := namesTo(60)
	for range 30 {
		fewer := slices.Clone(names)
		gone := r.IntN(len(fewer))
		name := fewer[gone]
		fewer = slices.Delete(fewer, gone, gone+1)
		many, few := plan(t, names, "", 10, 50).Waves, plan(t, fewer, "", 10, 50).Waves
		for i := range many {
			a, b := many[i].Rule.Spec.Dataplanes, few[i].Rule.Spec.Dataplanes
			moved := 0
			for _, d := range a {
				if d.Name != name && !slices.Contains(b, d) {
					moved++
				}
			}
			for _, d := range b {
				if !slices.Contains(a, d) {
					moved++
				}
			}
			if moved > 1 {
				t.Errorf("without %s, %d others enter or leave the wave of %d %%", name, moved, many[i].Percent)
			}
		}
	}
}

// The values of a label stay in their wave, regardless of the dataplanes that have them.
// A new dataplane with a value of a wave is in this wave.
func TestPlanByLabelSelectsWhatComes(t *testing.T) {
	wave := plan(t, namesTo(30), "team", 40).Waves[0]
	values := wave.Rule.Spec.DataplaneSelector.MatchExpressions[0].Values
	got, _ := enforcedBy(t, namesTo(60), &wave)
	for _, d := range planned(t, namesTo(60)).Dataplanes("m") {
		team, present := d.Labels.Get("team")
		want := d.Labels.Value("app") == "web" && present && slices.Contains(values, team)
		name := strings.TrimPrefix(d.Namespace+"/"+d.Name, "/")
		if slices.Contains(got, name) != want {
			t.Errorf("%s of team %q is enforced on: %v, the wave has the teams %v", name, team, !want, values)
		}
	}
}

func TestPlanOfNothing(t *testing.T) {
	view := planned(t, []string{"dp-3"}) // app=db
	for _, by := range []string{"", "team"} {
		if _, err := placement.NewPlan(view, view.Policies("m")[0], placement.PlanQuery{Percent: []int{10}, By: by}); err == nil {
			t.Errorf("by %q: there is a plan", by)
		}
	}
	view = planned(t, []string{"dp-5"})
	if _, err := placement.NewPlan(view, view.Policies("m")[0], placement.PlanQuery{Percent: []int{10}, By: "team"}); err == nil {
		t.Error("there is a plan by a label that no dataplane has")
	}
}
