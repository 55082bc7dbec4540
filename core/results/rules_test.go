package results_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/internal/matched"
	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/kind/meshloadbalancingstrategy"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// views yields both forms of the rule view of `from`.
func views(from *results.From) func(func(string, func(partition.Limits) ([]results.SelectorRule, error)) bool) {
	return func(yield func(string, func(partition.Limits) ([]results.SelectorRule, error)) bool) {
		_ = yield("disjoint", from.Disjoint) && yield("ordered", from.Ordered)
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// For each client, three confs agree: the conf computed without rules, the conf of
// the only disjoint rule, and the conf of the first ordered rule (SPEC 5.3).
func TestFormsOfFromAgree(t *testing.T) {
	balancing := &resource.Kind{
		Name: "Balancing", Short: "b", Top: resource.TopTargets,
		From: &resource.Section{Targets: resource.FromTargets, Conf: meshloadbalancingstrategy.Kind().To.Conf},
	}
	timeout := meshtimeout.Kind()
	for name, c := range map[string]struct {
		kind    *resource.Kind
		from    string
		clients map[string]string // conf by client, which is key=value pairs
	}{
		"selectors that overlap": {timeout, `
    - default: {idleTimeout: 1s}
    - {targetRef: {kind: MeshSubset, tags: {zone: east}}, default: {connectionTimeout: 2s}}
    - {targetRef: {kind: MeshServiceSubset, name: x, tags: {kuma.io/service: y}}, default: {idleTimeout: 9s}}
    - {targetRef: {kind: MeshService, name: web}, default: {idleTimeout: 3s}}`,
			map[string]string{
				"":                              `{"idleTimeout":"1s"}`,
				"zone=east":                     `{"connectionTimeout":"2s","idleTimeout":"1s"}`,
				"zone=west kuma.io/service=web": `{"idleTimeout":"3s"}`,
				"zone=east kuma.io/service=web": `{"connectionTimeout":"2s","idleTimeout":"3s"}`,
			}},
		"a union that hides an item": {balancing, `
    - default: {loadBalancer: {type: RingHash, ringHash: {minRingSize: 1}}}
    - {targetRef: {kind: MeshSubset, tags: {hidden: "*"}}, default: {loadBalancer: {type: RoundRobin}}}
    - default: {loadBalancer: {type: RingHash, ringHash: {maxRingSize: 9}}}`,
			map[string]string{
				"":           `{"loadBalancer":{"type":"RingHash","ringHash":{"minRingSize":1,"maxRingSize":9}}}`,
				"hidden=yes": `{"loadBalancer":{"type":"RingHash","ringHash":{"maxRingSize":9}}}`,
			}},
		"an item that sets everything": {meshtrafficpermission.Kind(), `
    - {targetRef: {kind: MeshSubset, tags: {zone: east}}, default: {action: Deny}}
    - {targetRef: {kind: MeshService, name: web}, default: {action: Allow}}`,
			map[string]string{
				"zone=east":                     `{"action":"Deny"}`,
				"kuma.io/service=web":           `{"action":"Allow"}`,
				"zone=east kuma.io/service=web": `{"action":"Allow"}`,
			}},
	} {
		t.Run(name, func(t *testing.T) {
			loader := resource.Loader{Kinds: resource.NewKinds(c.kind)}
			set, err := loader.Decode(t.Context(), resource.Input{Name: "test.yaml", Data: []byte("type: " + c.kind.Name + "\nname: p\nspec:\n  from:" + c.from + "\n")})
			if err != nil {
				t.Fatal(err)
			}
			from := results.NewFrom(c.kind, set.Policies)
			for client, want := range c.clients {
				tags := map[string]string{}
				for _, pair := range strings.Fields(client) {
					key, value, _ := strings.Cut(pair, "=")
					tags[key] = value
				}
				if got := text(t, from.Client(tags).Conf); got != want {
					t.Errorf("client %q: got %s, want %s", client, got, want)
				}
				for form, view := range views(from) {
					list, err := view(partition.Limits{})
					if err != nil {
						t.Fatal(err)
					}
					var matching []*results.Effective
					for _, r := range list {
						if r.Selector.Matches(tags) {
							matching = append(matching, r.Effective)
						}
					}
					if len(matching) == 0 || form == "disjoint" && len(matching) > 1 || text(t, matching[0].Conf) != want {
						t.Errorf("client %q: %d %s rules match; want one with %s first", client, len(matching), form, want)
					}
				}
			}
		})
	}
}

func TestLimitOfRules(t *testing.T) {
	set := resourcetest.Decode(t, `
type: MeshTimeout
name: a
spec: {from: [{default: {idleTimeout: 1s}}, {targetRef: {kind: MeshSubset, tags: {zone: east}}, default: {connectionTimeout: 2s}}]}
---
type: MeshTimeout
name: b
spec: {from: [{targetRef: {kind: MeshService, name: web}, default: {idleTimeout: 3s}}]}
`)
	for form, view := range views(results.NewFrom(meshtimeout.Kind(), set.Policies)) {
		_, err := view(partition.Limits{Rules: 2})
		var limit *results.LimitError
		var cause *partition.LimitError
		want := "needs more than 2 rules; the policies b, a differ by the tags kuma.io/service, zone"
		if !errors.As(err, &limit) || !errors.As(err, &cause) || cause.Limit != 2 || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want one with %q", form, err, want)
		}
	}
}

// A message lists the first ten policies and keys.
func TestLimitErrorIsShort(t *testing.T) {
	e := results.LimitError{Limit: &partition.LimitError{Limit: 9, Resource: "rules"}}
	for i := range 12 {
		e.Policies = append(e.Policies, policy("MeshTimeout", fmt.Sprintf("p%d", i), resource.TargetRef{}))
		e.Keys = append(e.Keys, fmt.Sprintf("k%d", i))
	}
	want := "the rule view needs more than 9 rules; the policies p0, p1, p2, p3, p4, p5, p6, p7, p8, p9 and 2 more differ by the tags k0, k1, k2, k3, k4, k5, k6, k7, k8, k9 and 2 more"
	if e.Error() != want {
		t.Errorf("got %s", e.Error())
	}
}

// An item with contradictory tags selects no client and is omitted.
func TestOriginsOfFrom(t *testing.T) {
	p := policy("MeshTimeout", "p", resource.TargetRef{})
	service := func(name string) resource.TargetRef {
		return resource.TargetRef{Kind: resource.TargetMeshServiceSubset, Name: name, Tags: resource.NewTags(map[string]string{"kuma.io/service": "b"})}
	}
	for _, target := range []resource.TargetRef{service("a"), service("b"), {Kind: resource.TargetMesh}} {
		p.From = append(p.From, resource.Item{TargetRef: target, Conf: &meshtimeout.Conf{}})
	}
	got := results.NewFrom(meshtimeout.Kind(), []*resource.Policy{p}).Origins()
	if want := []results.Origin{{Policy: p, Index: 1}, {Policy: p, Index: 2}}; !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

// The rule view of `to` has a rule for each set of items that select an outbound,
// more specific ones first. Items of routes are not included (SPEC 4.5).
func TestToRules(t *testing.T) {
	set := resourcetest.Decode(t, `
type: MeshTimeout
name: a
spec:
  to:
    - default: {connectionTimeout: 1s, idleTimeout: 1s}
    - {targetRef: {kind: MeshService, name: backend}, default: {connectionTimeout: 2s}}
    - {targetRef: {kind: MeshServiceSubset, name: backend, tags: {version: v2}}, default: {idleTimeout: 3s}}
    - {targetRef: {kind: MeshHTTPRoute, name: r}, default: {idleTimeout: 9s}}
---
type: MeshTimeout
name: attached
spec: {targetRef: {kind: MeshHTTPRoute, name: r}, to: [{default: {idleTimeout: 9s}}]}
`)
	var selected []results.Selected
	for _, p := range set.Policies {
		selected = append(selected, results.Selected{Policy: p})
	}
	config := results.Config{Kind: meshtimeout.Kind(), Matched: matched.NewMatched(selected)}
	list, err := config.ToRules(partition.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range list {
		got = append(got, r.Selector.String()+" "+text(t, r.Conf))
	}
	want := []string{
		`kuma.io/service=backend,version=v2 {"connectionTimeout":"2s","idleTimeout":"3s"}`,
		`kuma.io/service=backend {"connectionTimeout":"2s","idleTimeout":"1s"}`,
		`{} {"connectionTimeout":"1s","idleTimeout":"1s"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	var limit *results.LimitError
	if _, err := config.ToRules(partition.Limits{Rules: 2}); !errors.As(err, &limit) {
		t.Errorf("got error %v past the limit", err)
	}
}
