package snapshot

import (
	"runtime"
	"sync"
	"weak"
)

// A cache contains values by the inputs that they were made from. A value is in
// the cache as long as it is in use elsewhere, such as by a snapshot; the key and
// what it refers to are freed with it. The zero cache is empty. A cache is safe for
// concurrent use, and must not be copied.
type cache[K comparable, V any] struct {
	mu     sync.Mutex
	values map[K]weak.Pointer[V]
}

// get returns the value of a key. If there is none, it is made. Two callers may make it at
// the same time; both get the one that was ready first. A value must be a function of its
// key.
func (c *cache[K, V]) get(key K, make func() *V) *V {
	if v := c.lookup(key); v != nil {
		return v
	}
	v := make()
	c.mu.Lock()
	defer c.mu.Unlock()
	if first := c.values[key].Value(); first != nil {
		return first
	}
	if c.values == nil {
		c.values = map[K]weak.Pointer[V]{}
	}
	c.values[key] = weak.Make(v)
	runtime.AddCleanup(v, (cached[K, V]).forget, cached[K, V]{weak.Make(c), key})
	return v
}

// cached identifies an entry of a cache. It does not keep the cache, which is a part of
// what keeps the values.
type cached[K comparable, V any] struct {
	cache weak.Pointer[cache[K, V]]
	key   K
}

// forget is called after the value of the entry was freed.
func (e cached[K, V]) forget() {
	if c := e.cache.Value(); c != nil {
		c.forget(e.key)
	}
}

func (c *cache[K, V]) lookup(key K) *V {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.values[key].Value()
}

// forget removes the entry of a value that is no longer in use, unless another
// value took its place.
func (c *cache[K, V]) forget(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.values[key].Value() == nil {
		delete(c.values, key)
	}
}
