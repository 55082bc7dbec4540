package core

import (
	"fmt"
	"maps"
	"slices"

	"github.com/meshmatch/meshmatch/core/match"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// View is one state of the world, immutable.
type View struct {
	kinds  *resource.Kinds
	meshes map[string]*mesh
	// meshDocuments is how many Mesh documents there are; none need exist.
	meshDocuments int
}

// mesh is the part of the world that policies of one mesh can reach.
type mesh struct {
	dataplanes []*resource.Dataplane // sorted by identity
	policies   *match.Index
}

// NewView returns a view of the resources, which are not changed any more
// from then on. Policies must be of the given kinds. It returns an error where
// two policies have one identity.
func NewView(kinds *resource.Kinds, set *resource.Set) (*View, error) {
	v := &View{kinds: kinds, meshes: map[string]*mesh{}, meshDocuments: len(set.Meshes)}
	policies := map[string][]*resource.Policy{}
	for _, p := range set.Policies {
		policies[p.Mesh] = append(policies[p.Mesh], p)
	}
	for _, name := range set.MeshNames() {
		policies, err := match.NewIndex(policies[name], nil)
		if err != nil {
			return nil, fmt.Errorf("mesh %q: %w", name, err)
		}
		v.meshes[name] = &mesh{policies: policies}
	}
	for _, d := range set.Dataplanes {
		m := v.meshes[d.Mesh]
		m.dataplanes = append(m.dataplanes, d)
	}
	return v, nil
}

// Kinds returns the policy kinds that the view knows.
func (v *View) Kinds() *resource.Kinds { return v.kinds }

// Meshes returns the names of the meshes, sorted.
func (v *View) Meshes() []string { return slices.Sorted(maps.Keys(v.meshes)) }

// Dataplanes returns the dataplanes of a mesh, sorted by identity. The slice
// must not be changed.
func (v *View) Dataplanes(meshName string) []*resource.Dataplane {
	if m := v.meshes[meshName]; m != nil {
		return m.dataplanes
	}
	return nil
}

// Policies returns the policies of a mesh, of all kinds, sorted by identity.
// The slice must not be changed.
func (v *View) Policies(meshName string) []*resource.Policy {
	if m := v.meshes[meshName]; m != nil {
		return slices.SortedFunc(m.policies.All(), func(a, b *resource.Policy) int { return a.ID.Compare(b.ID) })
	}
	return nil
}

// Scope limits what is asked for.
type Scope struct {
	Kind   string // "": every kind
	Shadow bool   // with the policies that only inform (SPEC 8.3)
}

// Select returns the policies that select a dataplane, sorted by kind and in
// order within a kind: later ones override. The result lives in the buffer
// until its next use.
func (v *View) Select(d *resource.Dataplane, scope Scope, b *match.Buffer) []match.Selected {
	m := v.meshes[d.Mesh]
	if m == nil {
		return nil
	}
	return slices.DeleteFunc(m.policies.Select(d, b), func(s match.Selected) bool {
		return !scope.Shadow && s.Policy.Shadow() || scope.Kind != "" && s.Policy.Kind != scope.Kind
	})
}

// Configs returns what the policies of each kind say about a dataplane,
// sorted by kind, without the kinds that say nothing.
func (v *View) Configs(d *resource.Dataplane, scope Scope) []*rules.Config {
	var buffer match.Buffer
	selected := v.Select(d, Scope{Shadow: scope.Shadow}, &buffer)
	routes := routesOf(selected)
	var configs []*rules.Config
	for len(selected) > 0 {
		kind := selected[0].Policy.Type
		n := slices.IndexFunc(selected, func(s match.Selected) bool { return s.Policy.Type != kind })
		if n < 0 {
			n = len(selected)
		}
		if scope.Kind == "" || scope.Kind == kind.Name {
			configs = append(configs, rules.Evaluate(kind, d, selected[:n:n], routes))
		}
		selected = selected[n:]
	}
	return configs
}

// routesOf returns the routes among the policies that select a dataplane.
func routesOf(selected []match.Selected) []*resource.Policy {
	var routes []*resource.Policy
	for i := range selected {
		if p := selected[i].Policy; p.Type.IsRoute() {
			routes = append(routes, p)
		}
	}
	return routes
}

// Count returns how many resources of each kind there are.
func (v *View) Count() map[string]int {
	counts := map[string]int{}
	if v.meshDocuments > 0 {
		counts[resource.MeshKind] = v.meshDocuments
	}
	for _, m := range v.meshes {
		if len(m.dataplanes) > 0 {
			counts[resource.DataplaneKind] += len(m.dataplanes)
		}
		for p := range m.policies.All() {
			counts[p.Kind]++
		}
	}
	return counts
}
