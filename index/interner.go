package index

import (
	"fmt"
	"hash/maphash"
)

// An Interner is an immutable map from keys to dense ids. Ids begin at 0, and no
// two keys have the same id. The id of a released key is reused, so an id is
// meaningful only within one version.
//
// Adding one key to 100,000 costs 2.5 µs and 4 KB. Copying a Go map costs 2.8 ms.
// A small copied map over a large one, merged every 512 keys, costs 18 µs on
// average, including the 2.8 ms of each merge. In exchange, a lookup takes 49 ns;
// in a Go map it takes 27 ns (BenchmarkInternerAdd, BenchmarkInternerLookup; the
// minimum of 25 runs on a machine with other load).
type Interner[K comparable] struct {
	hasher[K]
	table hashTable
	keys  slab[K]
}

// hasher hashes keys. No result depends on the seed.
type hasher[K comparable] struct {
	seed maphash.Seed
	of   func(maphash.Seed, K) uint64
}

func (h *hasher[K]) hash(key K) uint32 { return uint32(h.of(h.seed, key) >> 32) }

// NewInterner returns an interner without keys.
func NewInterner[K comparable]() *Interner[K] { return NewInternerFunc(maphash.Comparable[K]) }

// NewInternerFunc is [NewInterner] with a function that hashes keys. Its upper 32 bits are used.
// For a key of several strings it is faster than [maphash.Comparable].
func NewInternerFunc[K comparable](hash func(maphash.Seed, K) uint64) *Interner[K] {
	return &Interner[K]{hasher: hasher[K]{maphash.MakeSeed(), hash}}
}

// Lookup returns the id of key. It allocates nothing, even if key is absent.
func (in *Interner[K]) Lookup(key K) (id uint32, ok bool) {
	if in.keys.n == 0 {
		return 0, false // no key needs a hash
	}
	return in.table.find(in.hash(key), func(id uint32) bool {
		return in.keys.get(id).value == key
	})
}

// LookupFunc is [Interner.Lookup] for a caller that can map ids to keys itself.
// The function hasKey reports whether an id belongs to key; LookupFunc calls it only
// for ids in use. It does not read the keys, which saves half of the cache misses
// of a lookup among many keys.
func (in *Interner[K]) LookupFunc(key K, hasKey func(id uint32) bool) (id uint32, ok bool) {
	return in.table.find(in.hash(key), hasKey)
}

// Len returns the number of keys.
func (in *Interner[K]) Len() int { return in.keys.n }

// Limit returns a number above every id that was ever assigned.
func (in *Interner[K]) Limit() uint32 { return in.keys.limit }

// Edit returns an editor that starts from in.
func (in *Interner[K]) Edit() *InternerEditor[K] {
	return &InternerEditor[K]{hasher: in.hasher, table: in.table.edit(), keys: in.keys.edit()}
}

// An InternerEditor makes the next version of an Interner.
type InternerEditor[K comparable] struct {
	hasher[K]
	table hashTableEditor
	keys  slabEditor[K]
}

// Lookup returns the id of key. It finds keys that this editor has added.
func (e *InternerEditor[K]) Lookup(key K) (id uint32, ok bool) {
	return e.find(e.hash(key), key)
}

// Len returns the number of keys, including those that this editor has added.
func (e *InternerEditor[K]) Len() int { return e.keys.n }

// Limit is [Interner.Limit], but includes the keys that this editor has added.
func (e *InternerEditor[K]) Limit() uint32 { return e.keys.limit }

func (e *InternerEditor[K]) find(hash uint32, key K) (id uint32, ok bool) {
	return e.table.find(hash, func(id uint32) bool {
		return e.keys.get(id).value == key
	})
}

// Grow prepares an editor without keys for n keys, so that its table is not divided step by
// step while they are added.
func (e *InternerEditor[K]) Grow(n int) { e.table.grow(n) }

// Intern returns the id of key and adds a reference to it, which one Release
// removes. A key that has no id gets one. The editor retains key as passed; clone
// a string first if it is part of a large text.
func (e *InternerEditor[K]) Intern(key K) uint32 {
	hash := e.hash(key)
	if id, ok := e.find(hash, key); ok {
		e.keys.mut(id).refs++
		return id
	}
	return e.add(hash, key)
}

// Add is [InternerEditor.Intern] for keys with one reference at most: if key is
// present, Add returns its id and adds no reference; otherwise it adds the key.
func (e *InternerEditor[K]) Add(key K) (id uint32, added bool) {
	hash := e.hash(key)
	if id, ok := e.find(hash, key); ok {
		return id, false
	}
	return e.add(hash, key), true
}

func (e *InternerEditor[K]) add(hash uint32, key K) uint32 {
	id := e.keys.add(key)
	e.table.insert(hash, id)
	return id
}

// Release removes a reference and reports whether it was the last one: if so, the
// key is removed and its id is free. It panics if the id is not in use.
func (e *InternerEditor[K]) Release(id uint32) bool {
	k := e.keys.get(id)
	if k == nil || k.refs == 0 {
		panic(fmt.Sprintf("index: release of id %d, which is not in use", id))
	}
	if k.refs > 1 {
		e.keys.mut(id).refs--
		return false
	}
	e.table.remove(e.hash(k.value), id)
	e.keys.remove(id)
	return true
}

// Commit publishes the next version.
func (e *InternerEditor[K]) Commit() *Interner[K] {
	return &Interner[K]{hasher: e.hasher, table: e.table.commit(), keys: e.keys.commit()}
}
