package variant_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/internal/variant"
)

func setOf(t *testing.T, constraints ...string) *variant.ConstraintSet {
	t.Helper()
	set, err := variant.NewSet(parse(t, constraints...))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// The variants of several sets are combined: each variant of the result stands for one
// choice of each set, and for no choice of a set that does not cover the parameters.
func TestCombine(t *testing.T) {
	sets := []*variant.ConstraintSet{setOf(t, prod, test), setOf(t, versioned)}
	combined, tuples, err := variant.Combine(sets, 6)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		parameters variant.Parameters
		want       string
	}{
		{variant.Parameters{"env": "prod"}, "[0 -1]"},
		{variant.Parameters{"env": "test", "version": "v1"}, "[1 0]"},
		{variant.Parameters{"env": "qa", "version": "v1"}, "[-1 0]"},
		{variant.Parameters{}, "[-1 -1]"},
	} {
		chosen, ok := combined.Choose(c.parameters)
		if !ok || fmt.Sprint(tuples[chosen]) != c.want {
			t.Errorf("%v: tuple %v of %v, want %s", c.parameters, chosen, tuples, c.want)
		}
	}
	var limit *partition.LimitError
	if _, _, err := variant.Combine(sets, 5); !errors.As(err, &limit) {
		t.Errorf("there are six tuples, and the limit is five: got error %v", err)
	}
}

// Variants of one group become one variant. Parameters that no variant accepts have none.
func TestGroup(t *testing.T) {
	grouped, groups, err := setOf(t, prod, test, qa).Group([]int{7, 8, 7})
	if err != nil {
		t.Fatal(err)
	}
	for env, want := range map[string]int{"prod": 7, "test": 8, "qa": 7, "dev": -1} {
		chosen, ok := grouped.Choose(variant.Parameters{"env": env})
		if !ok || groups[chosen] != want {
			t.Errorf("env=%s is in group %v of %v, want %d", env, chosen, groups, want)
		}
	}
	if grouped.Len() != 3 {
		t.Errorf("%d variants, want one for each group and one for all other parameters", grouped.Len())
	}
}

// Each variant names all keys of its set (SPEC 9.3), also the keys that make no difference
// to it.
func TestVariantsNameAllKeys(t *testing.T) {
	key := func(name string) string { return `{constraint: {key: "` + name + `", exists: {}}}` }
	any := func(name string) string { return or(key(name), not(key(name))) }
	for _, c := range []struct{ constraint, want string }{
		{and(any("a")), "a | !a"},
		{and(key("a"), key("b"), any("c"), any("d"), any("e")), "a & b & (c | !c) & (d | !d) & (e | !e)"},
		{and(key("a"), any("c")), "a & (c | !c)"},
		{or(key("a"), key("b"), any("c")), "(a | !a) & (b | !b) & (c | !c)"},
	} {
		if got := setOf(t, c.constraint).Constraint(0).String(); got != c.want {
			t.Errorf("%s: the variant is %s, want %s", c.constraint, got, c.want)
		}
	}
}

// A variant may have as many nodes as a constraint, and not more.
func TestNodesOfVariants(t *testing.T) {
	// The AND, its OR of values, and a key that makes no difference have n+6 nodes.
	values := func(n int) variant.Constraint {
		var list []variant.Constraint
		for i := range n {
			list = append(list, variant.Equals("key", fmt.Sprint(i)))
		}
		return variant.And(variant.Or(list...), variant.Or(variant.Exists("other"), variant.Not(variant.Exists("other"))))
	}
	if _, err := variant.NewSet([]variant.Constraint{values(variant.MaxNodes - 6)}); err != nil {
		t.Errorf("exactly the limit: %v", err)
	}
	if _, err := variant.NewSet([]variant.Constraint{values(variant.MaxNodes - 5)}); !errors.Is(err, variant.ErrConstraint) {
		t.Errorf("one node more than the limit: got error %v", err)
	}
}

// A set that covers all parameters leaves none, and a set without variants all.
func TestUncovered(t *testing.T) {
	if p := setOf(t, versioned, not(versioned)).Uncovered(); p != nil {
		t.Errorf("all parameters are covered, and %v are not", p)
	}
	if p := new(variant.ConstraintSet).Uncovered(); p == nil || len(p) != 0 {
		t.Errorf("an empty set leaves %v, want a client without parameters", p)
	}
	if _, ok := new(variant.ConstraintSet).Choose(nil); ok {
		t.Error("an empty set has a variant")
	}
}
