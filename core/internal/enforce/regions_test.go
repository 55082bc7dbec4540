package enforce_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/resource"
)

// overriding is a binding that enforces a policy of a mesh where a placement rule selects.
const overriding = `
apiVersion: policy.open-cluster-management.io/v1
kind: PlacementBinding
metadata: {name: binding, namespace: ns}
bindingOverrides: {remediationAction: enforce}
placementRef: {apiGroup: apps.open-cluster-management.io, kind: PlacementRule, name: rule}
subjects: [{apiGroup: kuma.io, kind: MeshTimeout, name: timeout}]
` + eastAndWest

// eastAndWest are clusters in the regions a and b.
const eastAndWest = `---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: east, labels: {region: a}}
---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: west, labels: {region: b}}
`

func ruleWith(spec string) string {
	return "---\napiVersion: apps.open-cluster-management.io/v1\nkind: PlacementRule\nmetadata: {name: rule, namespace: ns}\nspec: " + spec + "\n"
}

// listOf returns a list of n values of a label, in the form of YAML.
func listOf(n int) string {
	values := make([]string, n)
	for i := range values {
		values[i] = fmt.Sprintf("v%02d", i)
	}
	return "[" + strings.Join(values, ", ") + "]"
}

func regionText(r enforce.Region) string {
	var parts []string
	if r.Anywhere {
		parts = append(parts, "anywhere")
	}
	if r.Every {
		parts = append(parts, "every zone")
	}
	if len(r.Zones) > 0 {
		parts = append(parts, strings.Join(r.Zones, " or "))
	}
	if r.Names != nil {
		parts = append(parts, fmt.Sprintf("named %v", r.Names))
	}
	for _, tag := range r.Labels {
		parts = append(parts, tag.Key+"="+tag.Value)
	}
	return strings.Join(parts, ", ")
}

// The regions of a placement contain all of its dataplanes, and the condition is exact. A
// selector that lists the values of labels has a region for each value of the shortest list,
// unless that is longer than 16.
func TestRegionsAndCondition(t *testing.T) {
	var sixteen []string
	for i := range 16 {
		sixteen = append(sixteen, fmt.Sprintf("east, tier=v%02d", i))
	}
	for _, test := range []struct {
		name, spec string
		regions    []string
		condition  string // empty: no dataplane meets it
	}{
		{"clusters", "{clusters: [{name: west}, {name: east}]}", []string{"east or west"}, "east or west"},
		{"a selector of clusters", "{clusterSelector: {matchLabels: {region: a}}}", []string{"east"}, "east"},
		{"every cluster", "{clusterSelector: {}}", []string{"every zone, east or west"}, "every zone"},
		{"no cluster", "{clusterSelector: {matchLabels: {region: c}}}", []string{""}, ""},
		{"a label of dataplanes", "{clusters: [{name: east}], dataplaneSelector: {matchLabels: {app: web}}}", []string{"east, app=web"}, "east, app In [web]"},
		{"a list of values", "{clusters: [{name: east}], dataplaneSelector: {matchLabels: {app: web}, matchExpressions: [{key: tier, operator: In, values: [b, a]}]}}",
			[]string{"east, app=web, tier=a", "east, app=web, tier=b"}, "east, app In [web], tier In [a b]"},
		{"two lists", "{clusters: [{name: east}], dataplaneSelector: {matchExpressions: [{key: a, operator: In, values: [x, y, z]}, {key: b, operator: In, values: [x, y]}, {key: c, operator: In, values: [x, y]}]}}",
			[]string{"east, b=x", "east, b=y"}, "east, a In [x y z], b In [x y], c In [x y]"},
		{"a list of one value", "{clusters: [{name: east}], dataplaneSelector: {matchExpressions: [{key: tier, operator: In, values: [a]}]}}", []string{"east, tier=a"}, "east, tier In [a]"},
		{"values that a label does not have", "{clusters: [{name: east}], dataplaneSelector: {matchExpressions: [{key: tier, operator: NotIn, values: [a]}]}}", []string{"east"}, "east, tier NotIn [a]"},
		{"a list of 16 values", "{clusters: [{name: east}], dataplaneSelector: {matchExpressions: [{key: tier, operator: In, values: " + listOf(16) + "}]}}",
			sixteen, "east, tier In " + strings.ReplaceAll(listOf(16), ",", "")},
		{"a list of 17 values", "{clusters: [{name: east}], dataplaneSelector: {matchExpressions: [{key: tier, operator: In, values: " + listOf(17) + "}]}}",
			[]string{"east"}, "east, tier In " + strings.ReplaceAll(listOf(17), ",", "")},
		{"dataplanes by name", "{clusters: [{name: east}], dataplanes: [{name: web-2}, {name: web-1}]}", []string{"east, named [web-1 web-2]"}, "east, named [web-1 web-2]"},
		{"no dataplane by name", "{clusters: [{name: east}], dataplanes: []}", []string{"east, named []"}, ""},
		{"dataplanes by name alone", "{dataplanes: [{name: web-1}]}", []string{"anywhere, named [web-1]"}, "anywhere, named [web-1]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			state := stateOf(load(t, overriding+ruleWith(test.spec)))
			placements := state.Overrides(&resource.ID{Kind: "MeshTimeout", Mesh: "default", Namespace: "ns", Name: "timeout"})
			if len(placements) != 1 {
				t.Fatalf("overridden in %v", placements)
			}
			var regions []string
			for _, r := range state.Regions(placements[0]) {
				regions = append(regions, regionText(r))
			}
			if diff := cmp.Diff(test.regions, regions); diff != "" {
				t.Errorf("regions: -want +got\n%s", diff)
			}
			c, ok := state.Condition(placements[0])
			if ok != (test.condition != "") {
				t.Fatalf("a condition: %t", ok)
			}
			if !ok {
				return
			}
			got := enforce.Region{Anywhere: c.Anywhere, Every: c.Every, Zones: c.Zones}
			for _, d := range c.Dataplanes {
				got.Names = append(got.Names, d.Name)
			}
			text := []string{regionText(got)}
			for _, r := range c.Labels {
				text = append(text, fmt.Sprintf("%s %s %v", r.Key, r.Operator, r.Values))
			}
			if got := strings.Join(text, ", "); got != test.condition {
				t.Errorf("condition %q, want %q", got, test.condition)
			}
		})
	}
}

// A placement that does not exist has no regions and no condition.
func TestNoPlacement(t *testing.T) {
	state := stateOf(load(t, overriding))
	placements := state.Overrides(&resource.ID{Kind: "MeshTimeout", Mesh: "default", Namespace: "ns", Name: "timeout"})
	if len(placements) != 1 {
		t.Fatalf("overridden in %v", placements)
	}
	if regions := state.Regions(placements[0]); regions != nil {
		t.Errorf("regions %v", regions)
	}
	if c, ok := state.Condition(placements[0]); ok {
		t.Errorf("condition %+v", c)
	}
}

// The causes of an action are found among any number of bindings. Binding number i is placed
// on cluster a if i is even, and on b if i is divisible by 3.
func TestManyCauses(t *testing.T) {
	const bindings = 20
	var text strings.Builder
	text.WriteString("apiVersion: policy.open-cluster-management.io/v1\nkind: Policy\nmetadata: {name: policy, namespace: ns}\nspec: {remediationAction: inform}\n")
	want := map[string][]string{}
	for i := range bindings {
		var decisions []string
		for cluster, divisor := range map[string]int{"a": 2, "b": 3} {
			if i%divisor == 0 {
				decisions = append(decisions, fmt.Sprintf("{clusterName: %s, clusterNamespace: %s}", cluster, cluster))
				want[cluster] = append(want[cluster], fmt.Sprintf("binding-%02d", i))
			}
		}
		fmt.Fprintf(&text, `---
apiVersion: apps.open-cluster-management.io/v1
kind: PlacementRule
metadata: {name: rule-%[1]d, namespace: ns}
status: {decisions: [%[2]s]}
---
apiVersion: policy.open-cluster-management.io/v1
kind: PlacementBinding
metadata: {name: binding-%02[1]d, namespace: ns}
placementRef: {apiGroup: apps.open-cluster-management.io, kind: PlacementRule, name: rule-%[1]d}
subjects: [{apiGroup: policy.open-cluster-management.io, kind: Policy, name: policy}]
`, i, strings.Join(decisions, ", "))
	}
	wanted := "a inform " + strings.Join(want["a"], " ") + "\nb inform " + strings.Join(want["b"], " ") + "\n"
	if diff := cmp.Diff(wanted, targets(stateOf(load(t, text.String())), "ns", "policy")); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// A change of a placement has regions for what entered or left it. If only its clusters
// change, these are the clusters that changed; otherwise the previous and the new ones.
func TestMoved(t *testing.T) {
	for _, test := range []struct {
		name, before, after string
		regions             []string
	}{
		{"a cluster enters", "{clusters: [{name: east}]}", "{clusters: [{name: east}, {name: west}]}", []string{"west"}},
		{"a cluster leaves", "{clusters: [{name: east}, {name: west}]}", "{clusters: [{name: west}]}", []string{"east"}},
		{"the dataplanes in it", "{clusters: [{name: east}], dataplaneSelector: {matchLabels: {app: a}}}", "{clusters: [{name: east}], dataplaneSelector: {matchLabels: {app: b}}}",
			[]string{"east, app=a", "east, app=b"}},
		{"from some clusters to every one", "{clusters: [{name: east}]}", "{clusterSelector: {}}", []string{"east", "every zone, east or west"}},
		{"from all clusters by name to every one", "{clusters: [{name: east}, {name: west}]}", "{clusterSelector: {}}", []string{"east or west", "every zone, east or west"}},
		{"to some of the dataplanes", "{clusters: [{name: east}]}", "{clusters: [{name: east}], dataplaneSelector: {matchLabels: {app: a}}}", []string{"east", "east, app=a"}},
		{"from clusters to names", "{clusters: [{name: east}]}", "{dataplanes: [{name: web}]}", []string{"east", "anywhere, named [web]"}},
		{"other names", "{dataplanes: [{name: web}]}", "{dataplanes: [{name: api}]}", []string{"anywhere, named [web]", "anywhere, named [api]"}},
		{"nothing", "{clusters: [{name: east}]}", "{clusters: [{name: east}]}", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := stateOf(load(t, overriding+ruleWith(test.before))).Edit()
			put(e, load(t, ruleWith(test.after)).PlacementRules)
			_, delta := e.Commit()
			var got []string
			for _, m := range delta.Moved {
				for _, r := range m.Regions {
					got = append(got, regionText(r))
				}
			}
			if diff := cmp.Diff(test.regions, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}
