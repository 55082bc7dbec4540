package weakcache

import (
	"runtime"
	"sync"
	"weak"
)

// A Cache contains values by the inputs that they were made from. A value is in
// the cache as long as it is in use elsewhere; the key and what it refers to are freed
// with it. The zero Cache is empty. A Cache is safe for concurrent use, and must not be
// copied.
type Cache[K comparable, V any] struct {
	mu     sync.Mutex
	values map[K]weak.Pointer[V]
}

// Get returns the value of a key. If there is none, it is made, without the lock. Two
// callers may make it at the same time; both get the one that was ready first. A value must
// be a function of its key, and must not be nil.
func (c *Cache[K, V]) Get(key K, make func() *V) *V {
	if v := c.Lookup(key); v != nil {
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
	runtime.AddCleanup(v, (entry[K, V]).forget, entry[K, V]{weak.Make(c), key})
	return v
}

// Lookup returns the value of a key, or nil if there is none.
func (c *Cache[K, V]) Lookup(key K) *V {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.values[key].Value()
}

// Len returns the number of values. It includes those that are no longer in use and are
// not yet freed.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.values)
}

// entry identifies a value of a cache. It does not keep the cache, which is often a part
// of what keeps the values.
type entry[K comparable, V any] struct {
	cache weak.Pointer[Cache[K, V]]
	key   K
}

// forget is called after the value of the entry was freed. Another value may have taken
// its place.
func (e entry[K, V]) forget() {
	c := e.cache.Value()
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.values[e.key].Value() == nil {
		delete(c.values, e.key)
	}
}
