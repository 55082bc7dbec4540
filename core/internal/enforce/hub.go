package enforce

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/index"
)

// Hub contains the placements, bindings and policies of a hub, and their evaluation.
// It is immutable and safe for any number of readers. [Hub.Edit] makes the next
// version.
type Hub struct {
	names *index.Interner[name]
	nodes index.Vector[*node] // by the id of the name
	sets  [roles]index.Set
	order *clusterOrder
}

// role is a property of nodes. A state has, for each role, the set of its
// nodes.
type role uint8

const (
	selecting role = iota // placements with a clusterSelector that is evaluated
	open                  // placements whose exposed selection contains every zone, or dataplanes anywhere
	policies              // OCM policies
	managed               // clusters with a ManagedCluster
	bindings
	decisions
	groups // PolicySets and Placements
	roles  // the number of roles
)

// Empty returns the state without resources.
func Empty() *Hub { return &Hub{names: index.NewInterner[name](), order: new(clusterOrder)} }

// Resource returns the resource with an identity, or nil. The mesh of id must be empty.
func (s *Hub) Resource(id resource.ID) ocm.Resource {
	if n := s.lookup(nameOf(&id)); n != nil {
		return n.resource
	}
	return nil
}

// Effects yields the effect of each OCM policy, sorted by namespace and name.
func (s *Hub) Effects() iter.Seq[*Effect] {
	effects := make([]*Effect, 0, s.sets[policies].Len())
	for id := range s.sets[policies].All() {
		effects = append(effects, s.node(id).effect)
	}
	slices.SortFunc(effects, func(a, b *Effect) int {
		return cmp.Or(strings.Compare(a.Policy.Namespace, b.Policy.Namespace), strings.Compare(a.Policy.Name, b.Policy.Name))
	})
	return slices.Values(effects)
}

func (s *Hub) node(id uint32) *node { return s.nodes.Value(id) }

func (s *Hub) lookup(n name) *node {
	if id, known := s.names.Lookup(n); known {
		return s.node(id)
	}
	return nil
}
