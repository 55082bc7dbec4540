package serve

import (
	"runtime"
	"testing"
)

// What a flood took is returned at the next look, and a heap that stays large costs one
// collection only.
func TestMemoryIsReturned(t *testing.T) {
	var m memory
	m.step()
	flood := make([][]byte, 0, 400)
	for range cap(flood) {
		flood = append(flood, make([]byte, 1<<20))
	}
	runtime.GC()
	if !m.step() {
		t.Error("a heap that has grown by 400 MiB is not collected")
	}
	if m.step() {
		t.Error("a heap that stays large is collected again")
	}
	runtime.KeepAlive(flood)
	flood = nil
	runtime.GC() // as the next allocations cause
	m.step()
	if _, free := readMemory(); free > muchMemory {
		t.Errorf("%d MiB are free, and not returned", free>>20)
	}
}
