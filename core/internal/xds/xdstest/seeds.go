package xdstest

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"testing/synctest"
)

// Seeds runs a random test with the seeds from 0, each as a parallel subtest. It runs in a
// bubble of synctest, so its waits take no time. SOAK multiplies their number.
func Seeds(t *testing.T, n uint64, run func(t *testing.T, seed uint64)) {
	if text := os.Getenv("SOAK"); text != "" {
		times, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			t.Fatalf("SOAK: %v", err)
		}
		n *= times
	}
	for seed := range n {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { run(t, seed) })
		})
	}
}
