package enforce

import (
	"maps"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/index"
)

// Edit returns an editor that starts from s.
func (s *Hub) Edit() *Editor {
	e := &Editor{
		base:    s,
		names:   s.names.Edit(),
		nodes:   s.nodes.Edit(),
		owned:   map[uint32]*node{},
		changed: map[uint32]ocm.Resource{},
	}
	for role := range e.sets {
		e.sets[role] = s.sets[role].Edit()
	}
	return e
}

// Editor makes the next version of a [Hub]. It is used once: call Put and Remove,
// then Commit. An editor that is dropped has no effect.
type Editor struct {
	base  *Hub
	names *index.InternerEditor[name]
	nodes index.VectorEditor[*node]

	sets [roles]index.SetEditor

	reordered bool // clusters were added or removed

	owned    map[uint32]*node        // made by this editor, not yet published
	changed  map[uint32]ocm.Resource // the resource of a node in base; nil if there was none
	released []uint32                // references that Commit releases, so that no id has two meanings in one edit
}

// Put adds a resource, or replaces the resource with the same identity.
func (e *Editor) Put(r ocm.Resource) {
	id := e.hold(nameOf(&r.Identity().ID)) // the reference of the resource to its own name
	old := e.node(id).resource
	e.replace(id, r)
	if old != nil {
		e.released = append(e.released, id)
	}
}

// Remove removes the resource with an identity, if there is one.
func (e *Editor) Remove(id resource.ID) {
	known, ok := e.names.Lookup(nameOf(&id))
	if ok && e.node(known).resource != nil {
		e.replace(known, nil)
		e.released = append(e.released, known)
	}
}

// replace makes r the resource of a node, and moves the references from the old
// resource to r. r is nil if the resource is removed.
func (e *Editor) replace(id uint32, r ocm.Resource) {
	n := e.mut(id)
	old := n.resource
	if _, before := e.changed[id]; !before {
		e.changed[id] = old
	}
	n.resource = r
	e.refer(id, r)
	e.unrefer(id, old, r)
	e.file(id, r)
}

// refer adds a reference to each name that r refers to.
func (e *Editor) refer(id uint32, r ocm.Resource) {
	names, clusters := references(r)
	for _, name := range names {
		used := e.mut(e.hold(name))
		used.users = insert(used.users, id)
	}
	for _, cluster := range clusters {
		e.hold(clusterName(cluster))
	}
}

// unrefer releases the references of old. The node remains a user of the names to which
// next refers.
func (e *Editor) unrefer(id uint32, old, next ocm.Resource) {
	names, clusters := references(old)
	kept, _ := references(next)
	for _, name := range names {
		used, _ := e.names.Lookup(name)
		if !slices.Contains(kept, name) {
			n := e.mut(used)
			n.users = remove(n.users, id)
		}
		e.released = append(e.released, used)
	}
	for _, cluster := range clusters {
		used, _ := e.names.Lookup(clusterName(cluster))
		e.released = append(e.released, used)
	}
}

// file updates the sets of nodes for the resource r of a node.
func (e *Editor) file(id uint32, r ocm.Resource) {
	is := [roles]bool{}
	switch r := r.(type) {
	case *ocm.PlacementRule:
		is[selecting] = !r.Decided && r.ClusterSelector != nil
	case *ocm.Policy:
		is[policies] = true
	case *ocm.ManagedCluster:
		is[managed] = true
	case *ocm.PlacementBinding:
		is[bindings] = true
	case *ocm.PlacementDecision:
		is[decisions] = true
	case *ocm.PolicySet, *ocm.Placement:
		is[groups] = true
	}
	for of := range roles {
		if of != open { // the set open depends on the bindings
			e.set(of, id, is[of])
		}
	}
}

// set adds a node to the set of a role, or removes it.
func (e *Editor) set(of role, id uint32, has bool) {
	if has {
		e.sets[of].Add(id)
	} else {
		e.sets[of].Remove(id)
	}
}

// Commit returns the next version, and the change for the policies of meshes.
func (e *Editor) Commit() (*Hub, *Delta) {
	c := consequences{Editor: e, delta: &Delta{}}
	c.derive()
	for _, id := range e.released {
		if e.names.Release(id) {
			e.reordered = e.reordered || e.node(id).name.kind == ocm.ManagedClusterKind
			*e.nodes.Mut(id) = nil
		}
	}
	c.delta.sort()
	order := e.base.order
	if e.reordered {
		order = new(clusterOrder)
	}
	s := &Hub{order: order, names: e.names.Commit(), nodes: e.nodes.Commit()}
	for role := range e.sets {
		s.sets[role] = e.sets[role].Commit()
	}
	return s, c.delta
}

// hold returns the id of a name and adds a reference to it.
func (e *Editor) hold(n name) uint32 {
	id := e.names.Intern(n)
	if e.node(id) == nil {
		e.owned[id] = &node{name: n}
		e.reordered = e.reordered || n.kind == ocm.ManagedClusterKind
		*e.nodes.Mut(id) = e.owned[id]
	}
	return id
}

func (e *Editor) node(id uint32) *node { return e.nodes.Value(id) }

// mut returns a node for writing.
func (e *Editor) mut(id uint32) *node {
	if n := e.owned[id]; n != nil {
		return n
	}
	n := e.node(id).clone()
	e.owned[id] = n
	*e.nodes.Mut(id) = n
	return n
}

// changedIDs returns the nodes whose resource changed, sorted.
func (e *Editor) changedIDs() []uint32 { return slices.Sorted(maps.Keys(e.changed)) }
