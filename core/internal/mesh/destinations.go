package mesh

import (
	"sync"
	"sync/atomic"

	"github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/internal/match"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// destinations contains the destinations of a mesh. It is made at the first use, so that
// a commit that changes one costs nothing for the others.
type destinations struct {
	once sync.Once
	set  *destination.Directory

	selecting sync.Once
	selectors *destination.Selectors
}

// Destinations returns the destinations of the mesh.
func (m *State) Destinations() *destination.Directory {
	d := m.resources.destinations
	d.once.Do(func() {
		d.set = destination.New(m.index.Semantics(), m.resources.document, destination.ReservedSecrets(m.resources.identities.All()), m.resources.objects)
	})
	return d.set
}

// toItems contains the `to` items of the policies by their destinations. It is made at the
// first use, from the last version that was in use. So the first answer after a change of a
// policy or of a destination costs what the change touches.
type toItems struct {
	caches *destination.Caches // of all versions of the mesh

	once sync.Once
	// last is the index of this version or, before the first use, of an earlier version; nil:
	// none.
	last atomic.Pointer[indexedItems]
}

// indexedItems is an index with its policies.
type indexedItems struct {
	policies *match.Index
	index    *destination.Index
}

// after returns the items of the next version.
func (x *toItems) after() *toItems {
	next := &toItems{caches: x.caches}
	next.last.Store(x.last.Load())
	return next
}

func (m *State) destinationItems() *destination.Index {
	x := m.toItems
	x.once.Do(func() {
		now := &indexedItems{policies: m.index}
		if last := x.last.Load(); last != nil {
			now.index = last.index.ForDirectory(m.Destinations()).After(m.index, m.index.Since(last.policies))
		} else {
			now.index = m.Destinations().Index(m.index, x.caches)
		}
		x.last.Store(now)
	})
	return x.last.Load().index
}

// DestinationConfs returns the confs of the outbounds that [destination.Directory.Outbounds]
// returns for a dataplane, by the policies of one kind.
func (m *State) DestinationConfs(d *resource.Dataplane, kind string, scope results.Scope) *destination.Confs {
	if len(m.Destinations().All()) == 0 {
		return nil
	}
	return m.destinationItems().Confs(m.kinds.Lookup(kind), m.Configs(d, scope))
}

// PassthroughConf returns the conf of the connections of a dataplane to addresses that are no
// outbounds, by the policies of one kind; nil: there is none.
func (m *State) PassthroughConf(d *resource.Dataplane, kind string, scope results.Scope) *results.Effective {
	return m.destinationItems().Confs(m.kinds.Lookup(kind), m.Configs(d, scope)).Everywhere()
}
