package rules_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// policy returns a policy with only a kind, a name and a targetRef.
func policy(kind, name string, target resource.TargetRef) *resource.Policy {
	return &resource.Policy{
		Meta:      resource.Meta{ID: resource.ID{Kind: kind, Mesh: "default", Name: name}},
		TargetRef: target,
	}
}

// DefaultOrder compares levels first, and within a level names and namespaces
// (SPEC 3). All kinds of routes are one level.
func TestDefaultOrderLevels(t *testing.T) {
	route := []resource.TargetKind{resource.TargetMeshGatewayRoute, resource.TargetMeshHTTPRoute, resource.TargetMeshTCPRoute}
	chain := []resource.TargetRef{
		{Kind: resource.TargetMesh}, {Kind: resource.TargetDataplane}, {Kind: resource.TargetDataplane, SectionName: "s"},
		{Kind: resource.TargetMeshSubset}, {Kind: resource.TargetMeshGateway}, {Kind: resource.TargetMeshService},
		{Kind: resource.TargetMeshServiceSubset}, {Kind: route[0]},
	}
	for i, low := range chain {
		for _, high := range chain[i+1:] {
			p, q := policy("K", "zz", low), policy("K", "aa", high)
			if rules.DefaultOrder(p, q) >= 0 || rules.DefaultOrder(q, p) <= 0 {
				t.Errorf("%v does not override %v", high, low)
			}
		}
	}
	for _, a := range route {
		for _, b := range route {
			if p, q := policy("K", "aa", resource.TargetRef{Kind: a}), policy("K", "zz", resource.TargetRef{Kind: b}); rules.DefaultOrder(p, q) >= 0 || rules.DefaultOrder(q, p) <= 0 {
				t.Errorf("the name does not decide between %v and %v", a, b)
			}
		}
	}
}

// Sort orders policies of several kinds that are given in any order.
func TestSort(t *testing.T) {
	var want []*resource.Policy
	for _, kind := range []string{"A", "B"} {
		for _, target := range []resource.TargetKind{resource.TargetMesh, resource.TargetMeshSubset, resource.TargetMeshHTTPRoute} {
			for _, name := range []string{"a", "b", "c"} {
				want = append(want, policy(kind, name, resource.TargetRef{Kind: target}))
			}
		}
	}
	for seed := range uint64(50) {
		got := slices.Clone(want)
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
		rules.Order(rules.DefaultOrder).Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: not in order", seed)
		}
	}
}
