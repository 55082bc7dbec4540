package fuzz

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// TestSoak compares 20,000 seeded scenarios; 2,000 with -short.
func TestSoak(t *testing.T) {
	g := generator(t)
	scenarios := uint64(20_000)
	if testing.Short() {
		scenarios = 2_000
	}
	compare := func(s *Scenario) error { return Compare(FastPath, s) }
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
					t.Errorf("scenario %d: %s", seed, Explain(s, compare))
				}
			}
		})
	}
	workers.Wait()
}

// randomBytes returns the bytes of a seeded scenario, short and long ones: in
// the short ones little else is in the way of what meets.
func randomBytes(seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, 0))
	data := make([]byte, 40+random.IntN(360))
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	return data
}
