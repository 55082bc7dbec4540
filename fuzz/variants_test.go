package fuzz

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/semantics"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// TestSoakVariants compares 2,500 seeded sets of variants. With -short it
// compares a tenth of them, with SOAK=10 ten times as many.
func TestSoakVariants(t *testing.T) {
	sets := 2_500 * uint64(Soak(t))
	if testing.Short() {
		sets /= 40
	}
	for seed := range sets {
		if s := NewVariantSet(randomBytes(seed)); CompareVariants(s) != nil {
			t.Fatalf("set %d: %v\n%s", seed, CompareVariants(s), s)
		}
	}
}

// FuzzVariants compares constraints, sets of variants and compiled fragments.
//
//fuzz:executions 6000
func FuzzVariants(f *testing.F) {
	for seed := range uint64(fuzzSeeds) {
		f.Add(randomBytes(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := NewVariantSet(data)
		if err := CompareVariants(s); err != nil {
			t.Errorf("%v\n%s", err, s)
		}
	})
}

// The seeded sets are varied; otherwise the comparison would cover little.
func TestVariantSetsVary(t *testing.T) {
	found := map[string]int{}
	for seed := range uint64(2_000) {
		s := NewVariantSet(randomBytes(seed))
		var given []naive.Constraints
		for _, v := range s {
			if naive.ValidConstraints(v.Constraints) != nil {
				found["invalid constraint"]++
				continue
			}
			given = append(given, v.Constraints)
		}
		checked := naive.CheckVariants(given)
		switch {
		case len(given) < 2:
		case checked.Accepted() && len(checked.Uncovered) > 0:
			found["accepted with uncovered parameters"]++
		case checked.Accepted():
			found["accepted"]++
		case checked.SameKeys:
			found["ambiguous only"]++
		case len(checked.Ambiguous) == 0:
			found["other keys only"]++
		}
	}
	for _, sort := range []string{"invalid constraint", "accepted with uncovered parameters", "accepted", "ambiguous only", "other keys only"} {
		if found[sort] < 20 {
			t.Errorf("%d of %s, want 20 or more", found[sort], sort)
		}
	}
}

// TestSoakPolicyVariants compares 100 seeded scenarios of all kinds, of routes
// and of unions. With -short it compares a tenth of them, with SOAK=10 ten
// times as many.
func TestSoakPolicyVariants(t *testing.T) {
	for _, test := range []struct {
		name      string
		generator *Generator
		as        semantics.Semantics
	}{
		{"all kinds", generator(t), semantics.TargetRef}, {"routes", withRoutes(t), semantics.TargetRef}, {"unions", withUnions(t), semantics.TargetRef},
		{"as Kuma 2", generator(t).WithKumaLabels(), semantics.Kuma}, {"routes as Kuma 2", withRoutes(t).WithKumaLabels(), semantics.Kuma},
	} {
		t.Run(test.name, func(t *testing.T) {
			scenarios := 100 * uint64(Soak(t))
			if testing.Short() {
				scenarios /= 40
			}
			for seed := range scenarios {
				compare := func(s *Scenario) error { return comparePolicyVariants(test.as, s, seed) }
				if s := test.generator.Scenario(randomBytes(seed)); compare(s) != nil {
					t.Fatalf("scenario %d: %s", seed, explain(s, compare))
				}
			}
		})
	}
}
