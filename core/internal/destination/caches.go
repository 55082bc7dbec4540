package destination

import (
	"encoding/binary"
	"runtime"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/meshmatch/meshmatch/core/internal/items"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// Caches contain what the indexes of the versions of one mesh share. They must not be copied.
//
// A merged conf is made from items and from a list of items for every outbound (a [group]). If
// a policy is attached to a route, it is also made from the route. Each of these has a number,
// and later ones have greater numbers. The conf is cached at the part with the greatest number.
// So it is freed at the latest when that part is replaced; and as only older parts are in the
// keys of a cache, its size does not grow with the number of later changes.
type Caches struct {
	memo   *items.Memo
	ids    atomic.Uint64
	routes weakMap[resource.Policy, *memo]
}

// NewCaches returns empty caches, of confs that are in a memo.
func NewCaches(memo *items.Memo) *Caches { return &Caches{memo: memo} }

func (c *Caches) nextID() uint64 { return c.ids.Add(1) }

// memo is the number of a part of confs, and the confs and groups that are cached there.
type memo struct {
	id     uint64
	mu     sync.Mutex
	merged map[string]*results.Effective // by the numbers of their parts
	groups map[string]*group             // by the numbers of their items
}

// youngest returns the memo with the greatest number.
func (m *memo) youngest(items []*item) *memo {
	for _, it := range items {
		if it.id > m.id {
			m = &it.memo
		}
	}
	return m
}

func appendIDs(key []byte, items []*item) []byte {
	for _, it := range items {
		key = binary.AppendUvarint(key, it.id)
	}
	return key
}

// weakMap contains a value for each key that is in use elsewhere. It is safe for
// concurrent use.
type weakMap[K, V any] struct{ values sync.Map } // V by weak.Pointer[K]

// get returns the value of a key. If there is none, it is made; two callers may make it at
// the same time, and both get the same one.
func (m *weakMap[K, V]) get(key *K, make func() V) V {
	at := weak.Make(key)
	if known, ok := m.values.Load(at); ok {
		return known.(V)
	}
	v, known := m.values.LoadOrStore(at, make())
	if !known {
		runtime.AddCleanup(key, weakEntry[K, V].forget, weakEntry[K, V]{weak.Make(m), at})
	}
	return v.(V)
}

// weakEntry identifies an entry of a map. It does not keep the map.
type weakEntry[K, V any] struct {
	of weak.Pointer[weakMap[K, V]]
	at weak.Pointer[K]
}

// forget is called after the key was freed.
func (e weakEntry[K, V]) forget() {
	if m := e.of.Value(); m != nil {
		m.values.Delete(e.at)
	}
}
