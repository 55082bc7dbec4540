package xdstest

import (
	"fmt"
	"testing"
	"testing/synctest"
)

// Seeds runs a random test with the seeds from 0, each as a parallel subtest in a bubble of
// synctest, so that its waits take no time.
func Seeds(t *testing.T, n uint64, run func(t *testing.T, seed uint64)) {
	for seed := range n {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { run(t, seed) })
		})
	}
}
