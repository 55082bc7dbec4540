package relay

import (
	"hash/maphash"
	"maps"
)

// shards is an immutable map. The next one shares all shards with it in which nothing
// changed, so that a change of one name does not copy all names.
type shards[K comparable, V any] struct {
	maps *[numShards]map[K]V
}

const numShards = 256

var shardSeed = maphash.MakeSeed()

func shardOf[K comparable](key K) int { return int(maphash.Comparable(shardSeed, key) % numShards) }

// get returns the value of a key, or the zero value.
func (s shards[K, V]) get(key K) V {
	if s.maps == nil {
		var none V
		return none
	}
	return s.maps[shardOf(key)][key]
}

// A shardsEdit makes the next map. Nothing reads it before done.
type shardsEdit[K comparable, V any] struct {
	maps  *[numShards]map[K]V
	owned [numShards]bool
}

// edit begins with the values of a map.
func (s shards[K, V]) edit() *shardsEdit[K, V] {
	e := &shardsEdit[K, V]{maps: new([numShards]map[K]V)}
	if s.maps != nil {
		*e.maps = *s.maps
	}
	return e
}

func (e *shardsEdit[K, V]) own(key K) map[K]V {
	i := shardOf(key)
	if !e.owned[i] {
		e.owned[i] = true
		if e.maps[i] = maps.Clone(e.maps[i]); e.maps[i] == nil {
			e.maps[i] = map[K]V{}
		}
	}
	return e.maps[i]
}

func (e *shardsEdit[K, V]) set(key K, value V) { e.own(key)[key] = value }
func (e *shardsEdit[K, V]) delete(key K)       { delete(e.own(key), key) }

// done returns the map.
func (e *shardsEdit[K, V]) done() shards[K, V] { return shards[K, V]{e.maps} }
