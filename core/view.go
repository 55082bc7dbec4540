package core

import (
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/match"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// View is one state of the world, immutable and safe for any number of
// readers.
type View struct {
	kinds      *resource.Kinds
	meshes     []*meshView   // sorted by name
	superseded chan struct{} // closed once there is a newer view
}

// NewView returns a view of the resources, which are not changed any more
// from then on: the first one of an engine. The errors are those of
// [Engine.Apply].
func NewView(kinds *resource.Kinds, set *resource.Set) (*View, error) {
	commit, err := NewEngine(kinds, Options{}).Apply(Batch{Upsert: *set})
	return commit.After, err
}

// Superseded returns a channel that is closed once the engine has a newer view.
func (v *View) Superseded() <-chan struct{} { return v.superseded }

// Kinds returns the policy kinds that the view knows.
func (v *View) Kinds() *resource.Kinds { return v.kinds }

// Meshes returns the names of the meshes, sorted.
func (v *View) Meshes() []string {
	names := make([]string, len(v.meshes))
	for i, m := range v.meshes {
		names[i] = m.name
	}
	return names
}

// meshOf returns the state of a dataplane's mesh, or nil.
func (v *View) meshOf(d *resource.Dataplane) *meshView {
	if d == nil {
		return nil
	}
	return v.mesh(d.Mesh)
}

// mesh returns the state of a mesh, or nil.
func (v *View) mesh(name string) *meshView {
	at, found := slices.BinarySearchFunc(v.meshes, name, func(m *meshView, name string) int { return strings.Compare(m.name, name) })
	if !found {
		return nil
	}
	return v.meshes[at]
}

// Dataplanes returns the dataplanes of a mesh, sorted by identity. The slice
// must not be changed. The first call after a dataplane came, changed or left
// sorts them; [View.Dataplane] does not need that.
func (v *View) Dataplanes(meshName string) []*resource.Dataplane {
	if m := v.mesh(meshName); m != nil {
		return m.sortedDataplanes()
	}
	return nil
}

// Dataplane returns the dataplane of that mesh, namespace and name, or nil.
func (v *View) Dataplane(id resource.ID) *resource.Dataplane {
	if m := v.mesh(id.Mesh); m != nil {
		return m.dataplane(id)
	}
	return nil
}

// Policies returns the policies of a mesh, of all kinds, sorted by identity.
func (v *View) Policies(meshName string) []*resource.Policy {
	m := v.mesh(meshName)
	if m == nil {
		return nil
	}
	return slices.SortedFunc(m.index.All(), func(a, b *resource.Policy) int { return a.ID.Compare(b.ID) })
}

// Policy returns the policy of that identity, or nil.
func (v *View) Policy(id resource.ID) *resource.Policy {
	if m := v.mesh(id.Mesh); m != nil {
		return m.index.Policy(id)
	}
	return nil
}

// Scope limits what is asked for.
type Scope struct {
	Kind   string // "": every kind
	Shadow bool   // with the policies that only inform (SPEC 8.3)
}

func (s Scope) match() match.Scope {
	if s.Shadow {
		return match.Shadow
	}
	return match.Enforced
}

// Select returns the policies that select a dataplane, sorted by kind and in
// order within a kind: later ones override. The result lives in the buffer
// until its next use. The dataplane need not be one of the view; a nil one is
// selected by none.
func (v *View) Select(d *resource.Dataplane, scope Scope, b *match.Buffer) []match.Selected {
	m := v.meshOf(d)
	if m == nil {
		return nil
	}
	selected := m.index.Select(d, scope.match(), b)
	if scope.Kind == "" {
		return selected
	}
	return slices.DeleteFunc(selected, func(s match.Selected) bool { return s.Policy.Kind != scope.Kind })
}

// Configs returns what the policies of each kind say about a dataplane,
// sorted by kind, without the kinds that say nothing. The slice must not be
// changed. For a dataplane of the view it is shared with others, and asking
// allocates nothing; for any other one, such as one that is about to join, it
// is evaluated. For nil, which [View.Dataplane] returns of nobody, there are
// none.
func (v *View) Configs(d *resource.Dataplane, scope Scope) []*rules.Config {
	m := v.meshOf(d)
	if m == nil {
		return nil
	}
	p := m.profileOf(d)
	if p == nil {
		return v.evaluate(d, scope)
	}
	return p.configs(scope)
}

// evaluate computes the configs of a dataplane that is not in the view.
func (v *View) evaluate(d *resource.Dataplane, scope Scope) []*rules.Config {
	var buffer match.Buffer
	selected := v.Select(d, Scope{Shadow: scope.Shadow}, &buffer)
	routes := routesOf(selected)
	var configs []*rules.Config
	for group := range kindGroups(selected) {
		if kind := group[0].Policy.Kind; scope.Kind == "" || scope.Kind == kind {
			configs = append(configs, rules.Evaluate(v.kinds.Lookup(kind), d, match.NewMatched(group), routes))
		}
	}
	return configs
}

// Count returns how many resources of each kind there are.
func (v *View) Count() map[string]int {
	counts := map[string]int{}
	for _, m := range v.meshes {
		if m.document != nil {
			counts[resource.MeshKind]++
		}
		if n := m.slots.Len(); n > 0 {
			counts[resource.DataplaneKind] += n
		}
		for p := range m.index.All() {
			counts[p.Kind]++
		}
	}
	return counts
}
