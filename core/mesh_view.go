package core

import (
	"slices"
	"sync"

	"github.com/meshmatch/meshmatch/core/match"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
	"github.com/meshmatch/meshmatch/index"
)

// meshView is one state of a mesh, immutable. Versions share all that did not
// change between them.
type meshView struct {
	name     string
	lineage  *lineage
	document *resource.Mesh // nil: none

	slots      *index.Interner[proxyName]
	dataplanes index.Vector[dataplane] // by slot
	profiles   index.Vector[*profile]  // by number
	members    index.Vector[index.Set] // slots, by the number of their profile
	index      *match.Index
	list       *dataplaneList // shared by all versions with the same dataplanes
}

// lineage is the same for all versions that came one from another: in those
// only, slots and numbers mean the same.
type lineage struct{ _ byte }

// proxyName identifies a dataplane in its mesh.
type proxyName struct{ namespace, name string }

// dataplane is all that is kept for each dataplane: 16 bytes, and its entry in
// slots.
type dataplane struct {
	resource *resource.Dataplane // nil: the slot is free
	profile  uint32
}

// profile is what all dataplanes get that are in one class and have the same
// outbounds. A change of it makes a new one.
type profile struct {
	enforced *outcome
	// shadow is with the policies that only inform (SPEC 8.3); the same pointer
	// as enforced where none of them selects.
	shadow *outcome
}

// outcome is the configs of a selection.
type outcome struct {
	selection *selection
	configs   []*rules.Config // parallel to the selection's parts
}

// selection is the policies that select a class, kind by kind.
type selection struct {
	parts  []*rules.Part // sorted by kind, none of them without policies
	routes []*resource.Policy
}

// configs returns the configs of a scope; none of a nil profile.
func (p *profile) configs(scope Scope) []*rules.Config {
	if p == nil {
		return nil
	}
	configs := p.enforced.configs
	if scope.Shadow {
		configs = p.shadow.configs
	}
	if scope.Kind == "" {
		return configs
	}
	for i, c := range configs {
		if c.Kind.Name == scope.Kind {
			return configs[i : i+1 : i+1]
		}
	}
	return nil
}

// dataplane returns the dataplane of that identity, or nil.
func (m *meshView) dataplane(id resource.ID) *resource.Dataplane {
	slot, known := m.slots.Lookup(proxyName{id.Namespace, id.Name})
	if !known {
		return nil
	}
	return m.dataplanes.Get(slot).resource
}

// profileOf returns the profile of a dataplane, or nil where d is none of this
// state: not there, or there in another version.
func (m *meshView) profileOf(d *resource.Dataplane) *profile {
	slot, known := m.slots.LookupFunc(proxyName{d.Namespace, d.Name}, func(slot uint32) bool {
		return m.dataplanes.Get(slot).resource == d
	})
	if !known {
		return nil
	}
	return m.profiles.Value(m.dataplanes.Get(slot).profile)
}

// batch returns all resources, as changes to nothing.
func (m *meshView) batch() *meshBatch {
	b := &meshBatch{mesh: m.name}
	if m.document != nil {
		b.document = change[*resource.Mesh]{m.document.ID, m.document}
	}
	for _, d := range m.sortedDataplanes() {
		b.dataplanes = append(b.dataplanes, change[*resource.Dataplane]{d.ID, d})
	}
	for p := range m.index.All() {
		b.policies = append(b.policies, change[*resource.Policy]{p.ID, p})
	}
	sortByID(b.policies)
	return b
}

// dataplaneList is the dataplanes of a mesh, sorted by identity, made when
// somebody asks for it.
type dataplaneList struct {
	once   sync.Once
	sorted []*resource.Dataplane
}

func (m *meshView) sortedDataplanes() []*resource.Dataplane {
	m.list.once.Do(func() {
		list := make([]*resource.Dataplane, 0, m.slots.Len())
		for slot := range m.slots.Limit() {
			if d := m.dataplanes.Value(slot).resource; d != nil {
				list = append(list, d)
			}
		}
		slices.SortFunc(list, func(a, b *resource.Dataplane) int { return a.ID.Compare(b.ID) })
		m.list.sorted = list
	})
	return m.list.sorted
}
