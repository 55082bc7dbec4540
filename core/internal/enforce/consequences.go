package enforce

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
)

// consequences derives the effects of the changed resources of an edit, in this
// order: clusters, placements, bindings, sets, policies. Only nodes that the change
// reaches are evaluated again.
type consequences struct {
	*Editor
	placements map[uint32]bool // to be exposed again
	affected   map[uint32]bool // OCM policies to be evaluated again
	subjects   map[uint32]bool // mesh policies whose bindings changed
	delta      *Delta
}

func (c *consequences) derive() {
	c.placements, c.affected, c.subjects = map[uint32]bool{}, map[uint32]bool{}, map[uint32]bool{}
	reselect := map[uint32]bool{}
	var clusters []uint32
	for _, id := range c.changedIDs() {
		before, now := c.changed[id], c.node(id).resource
		if c.node(id).name.kind == ocm.ManagedClusterKind {
			clusters = append(clusters, id)
		}
		for _, r := range []ocm.Resource{before, now} {
			switch r := r.(type) {
			case *ocm.PlacementRule, *ocm.Placement:
				reselect[id] = true
			case *ocm.PlacementDecision:
				placement, _ := c.names.Lookup(name{ocm.PlacementKind, r.Namespace, r.Placement})
				reselect[placement] = true
			case *ocm.PlacementBinding:
				placement, _ := c.names.Lookup(placementName(r))
				c.placements[placement] = true
				c.reachSubjects(r)
			case *ocm.PolicySet:
				c.reachMembers(r)
			case *ocm.Policy:
				c.affected[id] = true
			}
		}
	}
	for id := range reselect {
		c.setSelection(id, c.selectionOf(c.node(id)))
	}
	if len(clusters) > 0 {
		for _, id := range c.sets[selecting].AppendTo(nil) {
			if !reselect[id] {
				c.setSelection(id, c.reselected(c.node(id), clusters))
			}
		}
	}
	for id := range c.placements {
		c.updatePlacements(id)
	}
	for id := range c.affected {
		c.evaluatePolicy(id)
	}
	for id := range c.subjects {
		c.delta.subjects = append(c.delta.subjects, c.node(id).name)
	}
}

// setSelection sets the selection of a placement. If it differs from the previous
// selection, settle marks the users of the placement.
func (c *consequences) setSelection(id uint32, next *selection) {
	if c.node(id).selection.equal(next) {
		return
	}
	n := c.mut(id)
	n.selection = next
	c.placements[id] = true
	for _, user := range n.users {
		if b, is := c.node(user).resource.(*ocm.PlacementBinding); is {
			c.reachSubjects(b)
		}
	}
}

// reachSubjects marks the subjects of a binding before or after the edit.
func (c *consequences) reachSubjects(b *ocm.PlacementBinding) {
	for i := range b.Subjects {
		id, known := c.names.Lookup(subjectName(b.Namespace, &b.Subjects[i]))
		if !known {
			continue
		}
		if b.Subjects[i].Mesh {
			c.subjects[id] = true
			continue
		}
		c.affected[id] = true
		if set, is := c.node(id).resource.(*ocm.PolicySet); is {
			c.reachMembers(set)
		}
	}
}

func (c *consequences) reachMembers(set *ocm.PolicySet) {
	for _, policy := range set.Policies {
		if id, known := c.names.Lookup(name{ocm.PolicyKind, set.Namespace, policy}); known {
			c.affected[id] = true
		}
	}
}

// evaluatePolicy evaluates an OCM policy.
func (c *consequences) evaluatePolicy(id uint32) {
	p, is := c.node(id).resource.(*ocm.Policy)
	if !is {
		if c.node(id).effect != nil {
			c.mut(id).effect = nil
		}
		return
	}
	c.mut(id).effect = newEffect(p, c.paths(id, p))
}

// paths returns the paths from bindings to a policy: through bindings of the
// policy, and through bindings of the sets that contain it.
func (c *consequences) paths(id uint32, p *ocm.Policy) []path {
	var paths []path
	for _, user := range c.node(id).users {
		switch r := c.node(user).resource.(type) {
		case *ocm.PlacementBinding:
			paths = c.appendPath(paths, r, p, nil)
		case *ocm.PolicySet:
			for _, id := range c.node(user).users {
				if b, is := c.node(id).resource.(*ocm.PlacementBinding); is {
					paths = c.appendPath(paths, b, p, r)
				}
			}
		}
	}
	return paths
}

// appendPath appends the path from a binding to a policy, directly or through a
// set, unless the binding's placement does not exist.
func (c *consequences) appendPath(paths []path, b *ocm.PlacementBinding, p *ocm.Policy, set *ocm.PolicySet) []path {
	id, _ := c.names.Lookup(placementName(b))
	selection := c.node(id).selection
	if selection == nil {
		return paths
	}
	clusters := selection.clusters
	if set != nil && len(set.Exclusions) > 0 {
		left := clusters.Edit()
		for _, e := range set.Exclusions {
			if e.Policy != p.Name {
				continue
			}
			for _, cluster := range e.Clusters {
				id, _ := c.names.Lookup(clusterName(cluster))
				left.Remove(id)
			}
		}
		clusters = left.Commit()
	}
	return append(paths, path{b, clusters})
}

// updatePlacements updates which placements contain a zone of dataplanes. It records only
// placements with which a binding overrides a policy of a mesh.
func (c *consequences) updatePlacements(id uint32) {
	n := c.node(id)
	if n == nil {
		return
	}
	var next *selection
	if slices.ContainsFunc(n.users, c.overridesMesh) {
		next = n.selection
	}
	if n.exposed.equal(next) {
		return
	}
	before := n.exposed
	n = c.mut(id)
	n.exposed, n.placement = next, placementOf(n.name)
	for cluster := range before.ids().AndNot(next.ids()).All() {
		m := c.mut(cluster)
		m.placements = remove(m.placements, id)
	}
	for cluster := range next.ids().AndNot(before.ids()).All() {
		m := c.mut(cluster)
		m.placements = insert(m.placements, id)
	}
	c.set(open, id, next != nil && (next.every || next.anywhere))
	c.delta.Moved = append(c.delta.Moved, c.move(n.placement, before, next))
}

// overridesMesh reports whether a node is a binding that overrides the action
// of a policy of a mesh.
func (c *consequences) overridesMesh(id uint32) bool {
	b, is := c.node(id).resource.(*ocm.PlacementBinding)
	return is && b.Enforce && slices.ContainsFunc(b.Subjects, func(s ocm.Subject) bool { return s.Mesh })
}
