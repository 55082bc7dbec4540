package snapshot

import (
	"hash/maphash"
	"runtime"
	"sync"
	"weak"

	"github.com/meshmatch/meshmatch/core/internal/hashtable"
)

// A pool contains lists of pointers, so that equal ones are one pointer. Unlike a
// [weakcache.Cache] it has no key of its own: a list is its key. A list is in the pool as long as
// it is in use elsewhere, such as by a snapshot. The zero pool is empty. A pool is safe
// for concurrent use, and must not be copied.
type pool[V any, P pooled[V]] struct {
	mu    sync.Mutex
	lists hashtable.Table[weak.Pointer[V]]
}

// pooled is a list of pointers. Equal lists have the same hash.
type pooled[V any] interface {
	*V
	hash() uint64
	equal(*V) bool
}

// poolSeed is the seed of the hashes of all pools. No result depends on it.
var poolSeed = maphash.MakeSeed()

// get returns the list that is equal to the given one. If there is none it is made by a
// function that uses no pool; it must be equal too.
func (p *pool[V, P]) get(like *V, make func() *V) *V {
	hash := P(like).hash()
	var found *V
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lists.Find(hash, func(w weak.Pointer[V]) bool {
		v := w.Value()
		if v == nil || !P(v).equal(like) {
			return false
		}
		found = v
		return true
	})
	if found != nil {
		return found
	}
	v := make()
	at := poolEntry[V, P]{weak.Make(p), hash, weak.Make(v)}
	p.lists.Add(hash, at.list)
	runtime.AddCleanup(v, poolEntry[V, P].forget, at)
	return v
}

// poolEntry identifies a list of a pool. It does not keep the pool, which is a part of
// what keeps the lists.
type poolEntry[V any, P pooled[V]] struct {
	pool weak.Pointer[pool[V, P]]
	hash uint64
	list weak.Pointer[V]
}

// forget is called after the list was freed.
func (e poolEntry[V, P]) forget() {
	if p := e.pool.Value(); p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.lists.Remove(e.hash, e.list)
	}
}

// hashOf returns the hash of a list that follows what has the given hash.
func hashOf[T comparable](before uint64, list ...T) uint64 {
	for _, v := range list {
		before = before*0x9E3779B97F4A7C15 + maphash.Comparable(poolSeed, v)
	}
	return before
}
