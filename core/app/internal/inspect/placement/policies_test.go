package placement_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/placement"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// plannedDocument is the policy of planned, as it is written.
const plannedDocument = `{"type": "MeshTimeout", "mesh": "m", "name": "web", "labels": {"kuma.io/effect": "shadow", "owner": "a"}, "spec": {"targetRef": {"kind": "Dataplane", "labels": {"app": "web"}}, "to": [{"targetRef": {"kind": "Mesh"}, "default": {"idleTimeout": "1s"}}]}}`

// The policies of each wave select, in the semantics of Kuma, the share that the wave has, with
// the dataplanes of the earlier waves; those of the last select all.
func TestPoliciesSelectShares(t *testing.T) {
	waves := 0
	for _, n := range []int{4, 10, 41, 83} {
		view := planned(t, namesTo(n))
		policy := view.Policies("m")[0]
		all, err := view.SelectedBy(policy.ID)
		if err != nil {
			t.Fatal(err)
		}
		var before []string
		for _, share := range []int{1, 10, 33, 50, 70, 90, 100} {
			plan, err := placement.NewPolicyPlan(view, policy, []byte(plannedDocument), placement.PlanQuery{Percent: []int{share}, By: "team"})
			if errors.Is(err, find.ErrNotFound) { // it needs dataplanes without the label
				if share == 100 {
					t.Errorf("100 %% of %d: %v", n, err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			wave := &plan.Waves[0]
			got := selectedBy(t, view, wave)
			if len(got) != wave.Dataplanes || len(got)*100 < len(all)*share || share == 100 && len(got) != len(all) {
				t.Errorf("%d %% of %d: the policies select %d dataplanes, the wave has %d", share, len(all), len(got), wave.Dataplanes)
			}
			for _, name := range before {
				if !slices.Contains(got, name) {
					t.Errorf("%d %% of %d lacks %s of the wave before", share, len(all), name)
				}
			}
			before = got
			waves++
		}
	}
	if waves < 15 {
		t.Errorf("only %d waves were compared", waves)
	}
}

// selectedBy returns the dataplanes on which the policies of a wave are enforced.
func selectedBy(t *testing.T, view *core.View, wave *placement.PolicyWave) []string {
	t.Helper()
	var text strings.Builder
	for _, policy := range wave.Policies {
		document, err := inspect.JSON(policy)
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(string(document) + "\n---\n")
	}
	loader := resource.Loader{Kinds: kinds.All()}
	set, err := loader.Decode(t.Context(), resource.Input{Name: "wave", Data: []byte(text.String())})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range view.Dataplanes("m") {
		set.Dataplanes = append(set.Dataplanes, servingWeb(d))
	}
	waved, err := core.Options{Semantics: core.Kuma}.NewView(t.Context(), kinds.All(), set)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range waved.Policies("m") {
		if p.Shadow() || p.Labels.Value("owner") != "a" {
			t.Errorf("%s has the labels %s", p.Name, p.Labels)
		}
		selected, err := waved.SelectedBy(p.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range selected {
			names = append(names, s.Dataplane.Qualified())
		}
	}
	slices.Sort(names)
	if compact := slices.Compact(slices.Clone(names)); len(compact) != len(names) {
		t.Errorf("a dataplane is selected twice: %v", names)
	}
	return names
}

// servingWeb returns the dataplane with an inbound: Kuma selects inbounds.
func servingWeb(d *resource.Dataplane) *resource.Dataplane {
	serving := *d
	serving.Inbounds = []resource.Inbound{{Port: 80, Tags: resource.NewTags(map[string]string{resource.ServiceTag: "web"})}}
	return &serving
}

// A copy has the place of its policy among those of other names: it overrides what the policy
// overrides.
func TestCopiesKeepTheirPlace(t *testing.T) {
	for _, c := range []struct {
		other string
		two   bool // hyphens
		err   string
	}{
		{"vault", false, ""},
		{"web-a0", false, ""},
		{"web-0", true, ""},
		{"web--", false, `because the name of MeshTimeout "web--" in mesh "m" is between their names`},
		{"xylophone", false, ""},
	} {
		view := planned(t, namesTo(10))
		policy := view.Policies("m")[0]
		other := *policy
		other.Name, other.Labels = c.other, nil
		set := &resource.Set{Policies: []*resource.Policy{policy, &other}}
		for _, d := range view.Dataplanes("m") {
			set.Dataplanes = append(set.Dataplanes, servingWeb(d))
		}
		view, err := core.Options{Semantics: core.Kuma}.NewView(t.Context(), kinds.All(), set)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := placement.NewPolicyPlan(view, policy, []byte(plannedDocument), placement.PlanQuery{Percent: []int{1}, By: "team"})
		if c.err != "" {
			if !errors.Is(err, find.ErrUsage) || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v", c.other, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", c.other, err)
		}
		if name := plan.Waves[0].Policies[0].(map[string]any)["name"].(string); strings.HasPrefix(name, "web--") != c.two {
			t.Errorf("%s: the name is %s", c.other, name)
		}
	}
}
