package results_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
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
	route := []resource.TargetKind{resource.TargetMeshHTTPRoute, resource.TargetMeshTCPRoute}
	chain := []resource.TargetRef{
		{Kind: resource.TargetMesh}, {Kind: resource.TargetDataplane}, {Kind: resource.TargetDataplane, SectionName: "s"},
		{Kind: resource.TargetMeshSubset}, {Kind: resource.TargetMeshGateway}, {Kind: resource.TargetMeshService},
		{Kind: resource.TargetMeshServiceSubset}, {Kind: route[0]},
	}
	for i, low := range chain {
		for _, high := range chain[i+1:] {
			p, q := policy("K", "zz", low), policy("K", "aa", high)
			if results.DefaultOrder(p, q) >= 0 || results.DefaultOrder(q, p) <= 0 {
				t.Errorf("%v does not override %v", high, low)
			}
		}
	}
	for _, a := range route {
		for _, b := range route {
			if p, q := policy("K", "aa", resource.TargetRef{Kind: a}), policy("K", "zz", resource.TargetRef{Kind: b}); results.DefaultOrder(p, q) >= 0 || results.DefaultOrder(q, p) <= 0 {
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
		sorted, err := results.Order(results.DefaultOrder).Sorted(given)
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

// Policies of each kind that are sorted by identity are in order when they are grouped by
// level, and are then compared once for each but the first.
func TestByLevel(t *testing.T) {
	targets := []resource.TargetKind{resource.TargetMeshHTTPRoute, resource.TargetMesh, resource.TargetMeshSubset}
	var given []*resource.Policy
	for _, kind := range []string{"A", "B"} {
		for i := range 90 {
			given = append(given, policy(kind, fmt.Sprintf("%02d", i), resource.TargetRef{Kind: targets[i%3]}))
		}
	}
	calls := 0
	counted := results.Order(func(a, b *resource.Policy) int { calls++; return results.DefaultOrder(a, b) })
	grouped := results.ByLevel(given)
	sorted, err := counted.Sorted(grouped)
	if err != nil || !slices.IsSorted(sorted) {
		t.Errorf("%v, %v, want positions in ascending order", sorted, err)
	}
	if want := len(given) - 2; calls != want { // those of different kinds are not compared by the order
		t.Errorf("%d calls, want %d", calls, want)
	}
	if slices.Equal(grouped, given) {
		t.Error("nothing was grouped")
	}
}

// Two policies that compare equal are named.
func TestSortedWithoutOrder(t *testing.T) {
	mesh := resource.TargetRef{Kind: resource.TargetMesh}
	_, err := results.Order(results.DefaultOrder).Sorted([]*resource.Policy{policy("K", "b", mesh), policy("K", "a", mesh), policy("K", "b", mesh)})
	want := `the order of policies is not strict and total: neither of K "b" in mesh "default" and K "b" in mesh "default" overrides the other`
	if !errors.Is(err, results.ErrNoOrder) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
