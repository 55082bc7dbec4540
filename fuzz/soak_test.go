package fuzz

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/meshmatch/meshmatch/core/semantics"
)

// TestSoak compares 20,000 seeded scenarios of all kinds, and fewer scenarios with only
// routes, unions, clients or permissions. With -short it compares a tenth of them, with
// SOAK=10 ten times as many.
func TestSoak(t *testing.T) {
	for _, test := range []struct {
		name      string
		generator *Generator
		scenarios uint64
		compare   func(subject, *Scenario) error
	}{
		{"all kinds", generator(t), 20_000, compareAnswers},
		{"routes", withRoutes(t), 4_000, compareAnswers},
		{"unions", withUnions(t), 4_000, compareAnswers},
		{"views", withFrom(t), 2_000, compareViews},
		{"views with routes", withRoutes(t), 1_000, compareViews},
		{"access", permissions(t), 1_000, compareAccess},
		{"access as Kuma 2", permissions(t).WithKumaLabels(), 1_000, inSemantics(semantics.Kuma, compareAccess)},
		{"access as Kuma 3", permissions(t).WithKumaLabels(), 500, inSemantics(semantics.Kuma3, compareAccess)},
		{"as Kuma 2", generator(t).WithKumaLabels(), 3_000, inSemantics(semantics.Kuma, compareAnswers)},
		{"as Kuma 3", generator(t).WithKumaLabels(), 1_500, inSemantics(semantics.Kuma3, compareAnswers)},
		{"destinations", generator(t).WithKumaLabels().WithDestinations(), 5_000, compareAnswers},
		{"destinations as Kuma 2", generator(t).WithKumaLabels().WithDestinations(), 5_000, inSemantics(semantics.Kuma, compareAnswers)},
		{"destinations as Kuma 3", generator(t).WithKumaLabels().WithDestinations(), 5_000, inSemantics(semantics.Kuma3, compareAnswers)},
		{"effects", generator(t), 500, compareEffects},
		{"effects of items", withFrom(t), 500, compareEffects},
		{"effects as Kuma 2", generator(t).WithKumaLabels().WithDestinations(), 500, inSemantics(semantics.Kuma, compareEffects)},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.scenarios *= uint64(Soak(t))
			if testing.Short() {
				test.scenarios /= 40
			}
			soak(t, test.generator, test.scenarios, func(s *Scenario) error { return test.compare(fastPath, s) })
		})
	}
}

// inSemantics compares a scenario in a semantics, for any subject.
func inSemantics(s semantics.Semantics, compare func(subject, *Scenario) error) func(subject, *Scenario) error {
	return func(_ subject, scenario *Scenario) error { return compare(reading(s), scenario) }
}

// sequential skips a test with -short, as under the race detector: it works in one goroutine,
// and TestSoak reads the same answers in several ones.
func sequential(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it works in one goroutine")
	}
}

func soak(t *testing.T, g *Generator, scenarios uint64, compare func(*Scenario) error) {
	var next, failures atomic.Uint64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for failures.Load() < 3 {
				seed := next.Add(1)
				if seed > scenarios {
					return
				}
				if s := g.Scenario(randomBytes(seed)); compare(s) != nil {
					failures.Add(1)
					t.Errorf("scenario %d: %s", seed, explain(s, compare))
				}
			}
		})
	}
	workers.Wait()
}
