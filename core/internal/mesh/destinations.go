package mesh

import (
	"sync"

	"github.com/meshmatch/meshmatch/core/destination"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// destinations contains the destinations of a mesh. It is made at the first use, so that
// a commit that changes one costs nothing for the others.
type destinations struct {
	once sync.Once
	set  *destination.Set

	selecting sync.Once
	selectors *destination.Selectors
}

// Destinations returns the destinations of the mesh.
func (m *State) Destinations() *destination.Set {
	d := m.resources.destinations
	d.once.Do(func() {
		d.set = destination.New(m.index.Semantics(), m.resources.document, m.resources.objects)
	})
	return d.set
}

// toItems contains the `to` items of the policies by their destinations. It is made at the
// first use.
type toItems struct {
	once  sync.Once
	index *destination.Index
}

func (m *State) destinationItems() *destination.Index {
	x := m.toItems
	x.once.Do(func() { x.index = m.Destinations().Index(m.index.All()) })
	return x.index
}

// DestinationConfs returns the confs of the outbounds that [destination.Set.Outbounds]
// returns for a dataplane, by the policies of one kind.
func (m *State) DestinationConfs(d *resource.Dataplane, kind string, scope rules.Scope) *destination.Confs {
	if len(m.Destinations().All()) == 0 {
		return nil
	}
	var matched rules.Matched
	var routes []*resource.Policy
	for _, config := range m.Configs(d, scope) {
		if config.Kind.Name == kind {
			matched = config.Matched
		}
		if config.Kind.IsRoute() {
			for _, s := range config.Matched.All() {
				routes = append(routes, s.Policy)
			}
		}
	}
	return m.destinationItems().Confs(m.kinds.Lookup(kind), matched, routes)
}
