package cli

import (
	"os"
	"runtime/debug"
)

// gcPercentWhileLoading is the GOGC until a state of a store is first served, unless the
// environment has one. Most of what a list allocates is held afterwards, so with Go's 100
// the heap grows to twice of that (bench/README.md).
const gcPercentWhileLoading = 50

// collectWhileLoading makes the garbage collector run more often, until the returned
// function is called. That function gives free memory back to the system.
func collectWhileLoading() (end func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(gcPercentWhileLoading)
	return func() {
		debug.FreeOSMemory()
		debug.SetGCPercent(before)
	}
}
