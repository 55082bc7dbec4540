package oracle

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/oracle"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/fuzz"
)

// TestSoakVariants compares 2,500 seeded sets of variants. With -short it
// compares a tenth of them, with SOAK=10 ten times as many.
func TestSoakVariants(t *testing.T) {
	sets := 2_500 * uint64(fuzz.Soak(t))
	if testing.Short() {
		sets /= 40
	}
	for seed := range sets {
		if s := NewVariantSet(fuzz.SeededBytes(seed)); CompareVariants(s) != nil {
			t.Fatalf("set %d: %v\n%s", seed, CompareVariants(s), s)
		}
	}
}

// FuzzVariants compares constraints, sets of variants and compiled fragments.
//
//fuzz:executions 6000
func FuzzVariants(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(fuzz.SeededBytes(seed))
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
		s := NewVariantSet(fuzz.SeededBytes(seed))
		var given []Constraints
		for _, v := range s {
			if ValidConstraints(v.Constraints) != nil {
				found["invalid constraint"]++
				continue
			}
			given = append(given, v.Constraints)
		}
		checked := CheckVariants(given)
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
		generator *fuzz.Generator
		as        semantics.Semantics
	}{
		{"all kinds", oracle.AllKinds(t), semantics.TargetRef}, {"routes", oracle.WithRoutes(t), semantics.TargetRef}, {"unions", oracle.WithUnions(t), semantics.TargetRef},
		{"as Kuma 2", oracle.AllKinds(t).WithKumaLabels(), semantics.Kuma}, {"routes as Kuma 2", oracle.WithRoutes(t).WithKumaLabels(), semantics.Kuma},
	} {
		t.Run(test.name, func(t *testing.T) {
			scenarios := 100 * uint64(fuzz.Soak(t))
			if testing.Short() {
				scenarios /= 40
			}
			test.generator.ReadBy(test.as).Compare(t, scenarios, func(s *fuzz.Scenario) error { return comparePolicyVariants(test.as, s) })
		})
	}
}
