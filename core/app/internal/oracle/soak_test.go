package oracle

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/oracle"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/fuzz"
)

// TestSoak compares seeded scenarios of all kinds, and scenarios with only routes, unions,
// clients, permissions or destinations. With -short it compares a tenth of them, with
// SOAK=10 ten times as many.
func TestSoak(t *testing.T) {
	for _, test := range []struct {
		name      string
		generator *fuzz.Generator
		scenarios uint64
		compare   func(subject, *fuzz.Scenario) error
	}{
		{"all kinds", oracle.AllKinds(t), 500, compareAnswers},
		{"routes", oracle.WithRoutes(t), 312, compareAnswers},
		{"unions", oracle.WithUnions(t), 312, compareAnswers},
		{"views", oracle.WithFrom(t), 250, compareViews},
		{"views with routes", oracle.WithRoutes(t), 125, compareViews},
		{"access", oracle.Permissions(t), 125, compareAccess},
		{"access as Kuma 2", oracle.Permissions(t).WithKumaLabels().ReadBy(semantics.Kuma), 125, inSemantics(semantics.Kuma, compareAccess)},
		{"access as Kuma 3", oracle.Permissions(t).WithKumaLabels().ReadBy(semantics.Kuma3), 62, inSemantics(semantics.Kuma3, compareAccess)},
		{"as Kuma 2", oracle.AllKinds(t).WithKumaLabels().ReadBy(semantics.Kuma), 250, inSemantics(semantics.Kuma, compareAnswers)},
		{"as Kuma 3", oracle.AllKinds(t).WithKumaLabels().ReadBy(semantics.Kuma3), 125, inSemantics(semantics.Kuma3, compareAnswers)},
		{"destinations", oracle.AllKinds(t).WithKumaLabels().WithDestinations(), 312, compareAnswers},
		{"destinations as Kuma 2", oracle.AllKinds(t).WithKumaLabels().WithDestinations().ReadBy(semantics.Kuma), 312, inSemantics(semantics.Kuma, compareAnswers)},
		{"destinations as Kuma 3", oracle.AllKinds(t).WithKumaLabels().WithDestinations().ReadBy(semantics.Kuma3), 312, inSemantics(semantics.Kuma3, compareAnswers)},
		{"effects", oracle.AllKinds(t), 62, compareEffects},
		{"effects of items", oracle.WithFrom(t), 62, compareEffects},
		{"effects as Kuma 2", oracle.AllKinds(t).WithKumaLabels().WithDestinations().ReadBy(semantics.Kuma), 62, inSemantics(semantics.Kuma, compareEffects)},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.scenarios *= uint64(fuzz.Soak(t))
			if testing.Short() {
				test.scenarios /= 10
			}
			test.generator.Compare(t, test.scenarios, func(s *fuzz.Scenario) error { return test.compare(fastPath, s) })
		})
	}
}

// inSemantics compares a scenario in a semantics, for any subject.
func inSemantics(s semantics.Semantics, compare func(subject, *fuzz.Scenario) error) func(subject, *fuzz.Scenario) error {
	return func(_ subject, scenario *fuzz.Scenario) error { return compare(reading(s), scenario) }
}

// FuzzMatch compares which policies select a dataplane, on which inbounds, in which
// order.
//
//fuzz:executions 600
func FuzzMatch(f *testing.F) {
	oracle.AllKinds(f).Fuzz(f, func(s *fuzz.Scenario) error { return compareSelection(fastPath, s) })
}

// FuzzEffective compares whole answers.
//
//fuzz:executions 750
func FuzzEffective(f *testing.F) {
	oracle.AllKinds(f).Fuzz(f, func(s *fuzz.Scenario) error { return compareAnswers(fastPath, s) })
}

// FuzzFrom compares the rule views of `from` and of `to`.
//
//fuzz:executions 600
func FuzzFrom(f *testing.F) {
	oracle.WithFrom(f).Fuzz(f, func(s *fuzz.Scenario) error { return compareViews(fastPath, s) })
}

// FuzzPermission compares decisions about requests.
//
//fuzz:executions 600
func FuzzPermission(f *testing.F) {
	oracle.Permissions(f).Fuzz(f, func(s *fuzz.Scenario) error { return compareAccess(fastPath, s) })
}
