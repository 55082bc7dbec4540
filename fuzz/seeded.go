package fuzz

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// Seeded returns the scenario of a seed, of 40 to 399 bytes.
func (g *Generator) Seeded(seed uint64) *Scenario { return g.Scenario(SeededBytes(seed)) }

// Compare calls compare for the scenarios of the seeds from 1, in several goroutines. It
// reports the first scenarios for which compare returns an error, each without the parts
// that the failure does not need.
func (g *Generator) Compare(t testing.TB, scenarios uint64, compare func(*Scenario) error) {
	t.Helper()
	var next, failures atomic.Uint64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for failures.Load() < 3 {
				seed := next.Add(1)
				if seed > scenarios {
					return
				}
				if s := g.Seeded(seed); compare(s) != nil {
					failures.Add(1)
					t.Errorf("scenario %d: %s", seed, explain(s, compare))
				}
			}
		})
	}
	workers.Wait()
}

// seeds is how many random inputs a fuzz target starts from. They are not stored in
// files, because the meaning of the bytes changes with the alphabets.
const seeds = 20

// Fuzz makes a fuzz target of compare: each input of the fuzzing engine becomes a scenario.
func (g *Generator) Fuzz(f *testing.F, compare func(*Scenario) error) {
	f.Helper()
	for seed := range uint64(seeds) {
		f.Add(SeededBytes(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if s := g.Scenario(data); compare(s) != nil {
			t.Error(explain(s, compare))
		}
	})
}
