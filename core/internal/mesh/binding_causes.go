package mesh

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/resource"
)

// bindings returns the placement bindings that are causes: their policies are
// enforced on the dataplanes of a group in one state, and inform in the other. The
// dataplanes have the same causes, as they are in the same placements.
func (c *comparison) bindings(key changeKey, first resource.ID) []resource.ID {
	if c.before == nil || c.after == nil || c.before.index.Enforcement() == c.after.index.Enforcement() {
		return nil
	}
	before, after := c.before.Dataplane(first), c.after.Dataplane(first)
	if before == nil || after == nil {
		return nil
	}
	then, now := key.before.overridden(), key.after.overridden()
	ids := causingBindings(c.before.index.Enforcement(), before, without(then, now))
	ids = append(ids, causingBindings(c.after.index.Enforcement(), after, without(now, then))...)
	slices.SortFunc(ids, resource.ID.Compare)
	return slices.Compact(ids)
}

// overridden returns the policies that are enforced although they inform, by
// identity.
func (p *profileView) overridden() map[resource.ID]*resource.Policy {
	policies := map[resource.ID]*resource.Policy{}
	for _, config := range p.enforced.class.configs {
		for _, m := range config.Matched().All() {
			if m.Policy.Shadow() {
				policies[m.Policy.ID] = m.Policy
			}
		}
	}
	return policies
}

// without returns the policies that are not among others.
func without(policies, others map[resource.ID]*resource.Policy) []*resource.Policy {
	var left []*resource.Policy
	for id, p := range policies {
		if others[id] == nil {
			left = append(left, p)
		}
	}
	return left
}

// causingBindings returns the bindings that enforce policies on a dataplane.
func causingBindings(s *enforce.Hub, d *resource.Dataplane, policies []*resource.Policy) []resource.ID {
	var ids []resource.ID
	for _, p := range policies {
		for _, binding := range s.MeshTarget(p, d).Because {
			ids = append(ids, resource.ID{Kind: ocm.PlacementBindingKind, Namespace: p.Namespace, Name: binding})
		}
	}
	return ids
}
