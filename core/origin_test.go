package core_test

import (
	"fmt"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// decodeDocuments is decode for resources with placements among them.
func decodeDocuments(t testing.TB, text string) *resource.Set {
	t.Helper()
	loader := resource.Loader{Kinds: kinds.All(), Documents: ocm.Documents()}
	set, err := loader.Decode(t.Context(), resource.Input{Name: "test.yaml", Data: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// zoneDataplane returns a dataplane of a zone.
func zoneDataplane(name, zone string, inbounds int, outbound string) string {
	text := fmt.Sprintf("\n---\ntype: Dataplane\nname: %s\nnetworking:\n  address: 10.0.0.1\n  outbound: [%s]\n  inbound:\n", name, outbound)
	for port := range inbounds {
		text += fmt.Sprintf("    - {port: %d, tags: {kuma.io/service: web, kuma.io/zone: %s}}\n", port+1, zone)
	}
	return text
}

// placementText returns a placement rule of some zones, and a binding that enforces a
// policy there.
func placementText(kind, name, zones string) string {
	return fmt.Sprintf(`
---
apiVersion: apps.open-cluster-management.io/v1
kind: PlacementRule
metadata: {name: rule, namespace: n}
spec: {clusters: [%s]}
---
apiVersion: policy.open-cluster-management.io/v1
kind: PlacementBinding
metadata: {name: binding, namespace: n}
bindingOverrides: {remediationAction: enforce}
placementRef: {apiGroup: apps.open-cluster-management.io, kind: PlacementRule, name: rule}
subjects: [{apiGroup: kuma.io, kind: %s, name: %s}]
`, zones, kind, name)
}

const informing = "kuma.io/effect: shadow, k8s.kuma.io/namespace: n"

// Dataplanes that move between classes use results of the class that they leave. The
// invariants compare these with a selection from all policies, and the reference counts
// with the references.
func TestMovingBetweenClasses(t *testing.T) {
	canary := timeoutText("canary", informing, everyDataplane, `{default: {idleTimeout: 1s}}`)
	base := timeoutText("base", "", everyDataplane, forAll) + timeoutText("east", "", "kind: MeshSubset, tags: {kuma.io/zone: east}", forAll) +
		"---\n{type: MeshTimeout, name: rules, spec: {rules: [{default: {idleTimeout: 1s}}]}}\n" +
		"---\n{type: MeshTLS, name: one-inbound, spec: {targetRef: {kind: Dataplane, sectionName: \"1\"}, rules: [{default: {mode: Strict}}]}}\n"
	const east, both, none = "{name: east}", "{name: east}, {name: west}", "{name: none}"
	e := newEngine(t, zoneDataplane("web-1", "east", 1, toBackend)+zoneDataplane("web-2", "west", 1, toBackend)+zoneDataplane("web-3", "west", 2, toBackend)+base+canary)
	enforced := func(v *core.View, name string) (count int) {
		for _, config := range v.Configs(v.Dataplane(dataplaneID(name)), core.Enforced) {
			count += config.Matched.Len()
		}
		return count
	}
	for _, step := range []struct {
		name string
		text string
		want [3]int // policies that are enforced on each dataplane
	}{
		{"no placement", "", [3]int{4, 3, 3}},
		{"a placement of a zone", placementText("MeshTimeout", "canary", east), [3]int{5, 3, 3}},
		{"of both", placementText("MeshTimeout", "canary", both), [3]int{5, 4, 4}},
		{"of none", placementText("MeshTimeout", "canary", none), [3]int{4, 3, 3}},
		{"with another version of a policy", placementText("MeshTimeout", "canary", both) + timeoutText("base", "", everyDataplane, `{default: {connectionTimeout: 2s}}`), [3]int{5, 4, 4}},
		{"of none again", placementText("MeshTimeout", "canary", none), [3]int{4, 3, 3}},
		{"a dataplane of another zone", zoneDataplane("web-3", "east", 2, toBackend), [3]int{4, 3, 4}},
		{"with more inbounds", zoneDataplane("web-3", "east", 3, toBackend), [3]int{4, 3, 4}},
		{"with other outbounds and in a placement", zoneDataplane("web-3", "east", 3, toOther+", "+toBackend) + placementText("MeshTimeout", "canary", east), [3]int{5, 3, 5}},
		{"of none, and a policy less for the zone", placementText("MeshTimeout", "canary", none) + timeoutText("east", "", "kind: MeshSubset, tags: {a: b}", forAll), [3]int{3, 3, 3}},
	} {
		view := apply(t, e, core.Batch{Upsert: decodeDocuments(t, step.text)}).After
		if got := [3]int{enforced(view, "web-1"), enforced(view, "web-2"), enforced(view, "web-3")}; got != step.want {
			t.Errorf("%s: %v policies are enforced, want %v", step.name, got, step.want)
		}
	}
}

// A policy that is attached to a route is enforced where the route is.
func TestPlacementOfARoute(t *testing.T) {
	route := fmt.Sprintf("\n---\n{type: MeshHTTPRoute, name: r, labels: {%s}, spec: {to: [{targetRef: {kind: MeshService, name: backend}, rules: []}]}}\n", informing)
	attached := timeoutText("attached", "", "kind: MeshHTTPRoute, name: r", forAll)
	e := newEngine(t, zoneDataplane("web-1", "east", 1, toBackend)+zoneDataplane("web-2", "west", 2, toBackend)+route+attached)
	for _, zones := range []string{"{name: none}", "{name: east}", "{name: west}", "{name: none}"} {
		view := apply(t, e, core.Batch{Upsert: decodeDocuments(t, placementText("MeshHTTPRoute", "r", zones))}).After
		for name, zone := range map[string]string{"web-1": "{name: east}", "web-2": "{name: west}"} {
			want := 0
			if zone == zones {
				want = 2 // the route and the policy
			}
			d := view.Dataplane(dataplaneID(name))
			if got, all := len(view.Configs(d, core.Enforced)), len(view.Configs(d, core.Shadow)); got != want || all != 2 {
				t.Errorf("placement %s: %s has %d kinds that are enforced and %d in all, want %d and 2", zones, name, got, all, want)
			}
		}
	}
}
