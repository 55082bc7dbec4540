package weakcache_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/weakcache"
)

type value struct{ text string }

// A value is made once while it is in use, and again after it was freed.
func TestGet(t *testing.T) {
	var cache weakcache.Cache[int, value]
	made := 0
	get := func() *value {
		return cache.Get(1, func() *value { made++; return &value{"one"} })
	}
	if cache.Lookup(1) != nil {
		t.Error("the zero cache has a value")
	}
	first := get()
	if again := get(); again != first || made != 1 {
		t.Errorf("the value was made %d times, want 1", made)
	}
	if cache.Lookup(1) != first || cache.Lookup(2) != nil {
		t.Error("Lookup returns another value than Get made")
	}
	runtime.KeepAlive(first)
	first = nil
	collect(t, func() bool { return cache.Len() == 0 })
	if get(); made != 2 {
		t.Errorf("after it was freed, the value was made %d times, want 2", made)
	}
}

// Of two values that are made at the same time, both callers get the first.
func TestGetAtTheSameTime(t *testing.T) {
	var cache weakcache.Cache[int, value]
	var both, done sync.WaitGroup
	both.Add(2)
	var got [2]*value
	for i := range got {
		done.Go(func() {
			got[i] = cache.Get(1, func() *value {
				both.Done()
				both.Wait() // until the other caller makes a value too
				return &value{"one"}
			})
		})
	}
	done.Wait()
	if got[0] != got[1] {
		t.Error("two callers have different values of one key")
	}
	runtime.KeepAlive(got)
}

// A value of a cache that is itself no longer in use is freed.
func TestCacheIsFreed(t *testing.T) {
	freed := make(chan struct{})
	func() {
		cache := new(weakcache.Cache[int, value])
		v := cache.Get(1, func() *value { return &value{"one"} })
		runtime.AddCleanup(cache, func(done chan struct{}) { close(done) }, freed)
		runtime.KeepAlive(v)
	}()
	collect(t, func() bool {
		select {
		case <-freed:
			return true
		default:
			return false
		}
	})
}

// collect collects garbage until a condition holds.
func collect(t *testing.T, holds func() bool) {
	t.Helper()
	for range 100 {
		runtime.GC()
		runtime.Gosched()
		if holds() {
			return
		}
	}
	t.Fatal("what is not in use is kept")
}
