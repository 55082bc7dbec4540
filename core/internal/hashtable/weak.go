package hashtable

import (
	"runtime"
	"sync"
	"weak"
)

// Weak contains values, so that equal ones are one pointer. A value is in it as long as it is in
// use elsewhere. The zero Weak is empty. It is safe for concurrent use, and must not be copied.
type Weak[V any] struct {
	mu     sync.Mutex
	values Table[weak.Pointer[V]]
}

// Find returns a value with the hash for which same reports true, or nil if there is none. The
// function must not use t.
func (t *Weak[V]) Find(hash uint64, same func(*V) bool) *V {
	t.mu.Lock()
	defer t.mu.Unlock() // same may panic
	return t.find(hash, same)
}

func (t *Weak[V]) find(hash uint64, same func(*V) bool) (found *V) {
	t.values.Find(hash, func(w weak.Pointer[V]) bool {
		if v := w.Value(); v != nil && same(v) {
			found = v
		}
		return found != nil
	})
	return found
}

// Add adds a value with the hash, and returns it. If another caller has added one for which
// same reports true, it returns that one.
func (t *Weak[V]) Add(hash uint64, v *V, same func(*V) bool) *V {
	t.mu.Lock()
	defer t.mu.Unlock()
	if first := t.find(hash, same); first != nil {
		return first
	}
	at := member[V]{weak.Make(t), hash, weak.Make(v)}
	t.values.Add(hash, at.value)
	runtime.AddCleanup(v, member[V].forget, at)
	return v
}

// member identifies a value of a Weak. It does not keep the Weak, which is often a part of what
// keeps the values.
type member[V any] struct {
	of    weak.Pointer[Weak[V]]
	hash  uint64
	value weak.Pointer[V]
}

// forget is called after the value was freed.
func (m member[V]) forget() {
	if t := m.of.Value(); t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.values.Remove(m.hash, m.value)
	}
}
