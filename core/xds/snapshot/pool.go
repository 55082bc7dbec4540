package snapshot

import (
	"hash/maphash"

	"github.com/meshmatch/meshmatch/core/internal/hashtable"
)

// A pool contains lists of pointers, so that equal ones are one pointer. Unlike a
// [weakcache.Cache] it has no key of its own: a list is its key. A list is in the pool as long as
// it is in use elsewhere, such as by a snapshot. The zero pool is empty. A pool is safe
// for concurrent use, and must not be copied.
type pool[V any, P pooled[V]] struct{ lists hashtable.Weak[V] }

// pooled is a list of pointers. Equal lists have the same hash.
type pooled[V any] interface {
	*V
	hash() uint64
	equal(*V) bool
}

// poolSeed is the seed of the hashes of all pools. No result depends on it.
var poolSeed = maphash.MakeSeed()

// get returns the list that is equal to the given one. If there is none it is made by a
// function; it must be equal too.
func (p *pool[V, P]) get(like *V, make func() *V) *V {
	hash, same := P(like).hash(), func(v *V) bool { return P(v).equal(like) }
	if known := p.lists.Find(hash, same); known != nil {
		return known
	}
	return p.lists.Add(hash, make(), same)
}

// hashOf returns the hash of a list that follows what has the given hash.
func hashOf[T comparable](before uint64, list ...T) uint64 {
	for _, v := range list {
		before = before*0x9E3779B97F4A7C15 + maphash.Comparable(poolSeed, v)
	}
	return before
}
