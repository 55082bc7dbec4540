package rules_test

import (
	"errors"
	"fmt"
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

// Sorted orders policies of several kinds that are given in any order.
func TestSorted(t *testing.T) {
	var want []*resource.Policy
	for _, kind := range []string{"A", "B"} {
		for _, target := range []resource.TargetKind{resource.TargetMesh, resource.TargetMeshSubset, resource.TargetMeshHTTPRoute} {
			for _, name := range []string{"a", "b", "c"} {
				want = append(want, policy(kind, name, resource.TargetRef{Kind: target}))
			}
		}
	}
	for seed := range uint64(50) {
		given, got := slices.Clone(want), []*resource.Policy(nil)
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(given), func(i, j int) { given[i], given[j] = given[j], given[i] })
		sorted, err := rules.Order(rules.DefaultOrder).Sorted(given)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range sorted {
			got = append(got, given[at])
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: not in order", seed)
		}
	}
}

// Policies that are sorted by identity are compared once for each but the first.
func TestSortedComparesOnce(t *testing.T) {
	var given []*resource.Policy
	for i := range 90 {
		kind := []resource.TargetKind{resource.TargetMesh, resource.TargetMeshSubset, resource.TargetMeshHTTPRoute}[i%3]
		given = append(given, policy("K", fmt.Sprintf("%02d", i), resource.TargetRef{Kind: kind}))
	}
	calls := 0
	counted := rules.Order(func(a, b *resource.Policy) int { calls++; return rules.DefaultOrder(a, b) })
	if _, err := counted.Sorted(given); err != nil || calls != len(given)-1 {
		t.Errorf("%d calls, %v, want %d", calls, err, len(given)-1)
	}
}

// Two policies that compare equal are named.
func TestSortedWithoutOrder(t *testing.T) {
	mesh := resource.TargetRef{Kind: resource.TargetMesh}
	_, err := rules.Order(rules.DefaultOrder).Sorted([]*resource.Policy{policy("K", "b", mesh), policy("K", "a", mesh), policy("K", "b", mesh)})
	want := `the order of policies is not strict and total: neither of K "b" in mesh "default" and K "b" in mesh "default" overrides the other`
	if !errors.Is(err, rules.ErrNoOrder) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
