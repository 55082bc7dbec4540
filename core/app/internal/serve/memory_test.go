package serve

import (
	"runtime"
	"testing"
)

// What a flood took is returned at the next look, and a heap that stays large costs two
// collections only.
func TestMemoryIsReturned(t *testing.T) {
	var m memory
	for m.step(0, false) { // what other tests have left
	}
	flood := make([][]byte, 0, 400)
	for range cap(flood) {
		flood = append(flood, make([]byte, 1<<20))
	}
	runtime.GC()
	if !m.step(0, false) {
		t.Error("a heap that has grown by 400 MiB is not collected")
	}
	if !m.step(0, false) || m.step(0, false) {
		t.Error("a heap that stays large is not collected twice")
	}
	runtime.KeepAlive(flood)
	flood = nil
	runtime.GC() // as the next allocations cause
	m.step(0, false)
	if _, free, _ := readMemory(); free > muchMemory {
		t.Errorf("%d MiB are free, and not returned", free>>20)
	}

	// What took much memory for a while, such as files, ends: the runtime has collected, and then nothing is
	// allocated. The looks during it have seen the same live heap as the last one.
	flood = make([][]byte, 0, 400)
	for range cap(flood) {
		flood = append(flood, make([]byte, 1<<20))
	}
	for range 3 { // it collects twice, and no longer
		runtime.GC()
		m.step(0, false)
	}
	runtime.KeepAlive(flood)
	flood = nil
	for i, want := range []bool{true, true, false, false} {
		if got := m.step(0, false); got != want {
			t.Errorf("step %d after the end of work collects: %v, want %v", i, got, want)
		}
	}
	if live, free, _ := readMemory(); live > 200<<20 || free > muchMemory {
		t.Errorf("%d MiB are live and %d MiB are free after the end of work", live>>20, free>>20)
	}

	// Files that were large are removed: the next state is small, and nothing is allocated after it. The
	// collection while it is made still finds the old one.
	flood = make([][]byte, 0, 400)
	for range cap(flood) {
		flood = append(flood, make([]byte, 1<<20))
	}
	for range 4 {
		m.step(0, false)
	}
	runtime.KeepAlive(flood)
	flood = nil
	for i, want := range []bool{false, true, true, false} {
		if got := m.step(0, i == 0); got != want {
			t.Errorf("step %d after another state collects: %v, want %v", i, got, want)
		}
	}
	if live, _, _ := readMemory(); live > 200<<20 {
		t.Errorf("%d MiB are live after another state", live>>20)
	}

	// The look during a flood has collected, and nothing is allocated after it.
	m.step(50_000, false)
	if m.step(45_000, false) {
		t.Error("a few subscriptions that end cause a collection")
	}
	for i, want := range []bool{true, true, false} {
		if got := m.step(0, false); got != want {
			t.Errorf("step %d after many subscriptions have ended collects: %v, want %v", i, got, want)
		}
	}
}
