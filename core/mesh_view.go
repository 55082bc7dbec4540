package core

import (
	"slices"
	"sync"

	"github.com/meshmatch/meshmatch/core/internal/blocks"
	"github.com/meshmatch/meshmatch/core/internal/match"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
	"github.com/meshmatch/meshmatch/index"
)

// meshView is the immutable state of one mesh. Versions share what did not
// change between them.
type meshView struct {
	name      string
	lineage   *lineage
	resources *meshResources // those that are not dataplanes or policies

	slots      *index.Interner[proxyName]
	dataplanes index.Vector[dataplane]    // by slot
	profiles   index.Vector[*profileView] // by number
	members    index.Vector[*memberSet]   // by the number of their profile
	index      *match.Index
	list       *dataplaneList // shared by all versions with the same dataplanes
}

// lineage identifies the versions that were made one from another. Slots and
// profile numbers have the same meaning within one lineage only.
type lineage struct{ _ byte }

// proxyName identifies a dataplane in its mesh.
type proxyName struct{ namespace, name string }

// dataplane is what is kept for each dataplane: 16 bytes, in addition to its
// entry in slots.
type dataplane struct {
	resource *resource.Dataplane // nil: the slot is free
	profile  uint32
}

// profileView is the configuration of the dataplanes of one profile: those of one
// class with the same outbounds. It is immutable; a change makes a new one.
type profileView struct {
	enforced *scopeConfigs
	// shadow includes the policies that only inform (SPEC 8.3). It is the same
	// pointer as enforced if none of them selects the dataplanes.
	shadow *scopeConfigs
}

// scopeConfigs are the configs of a selection for one profile.
type scopeConfigs struct {
	selection *selection
	configs   []*rules.Config // parallel to the selection's kinds
}

// selection is the result of selecting policies for a class, kind by kind. Classes
// can share it.
type selection struct {
	kinds  []*blocks.ClassConfig // sorted by kind; only kinds with policies
	routes []*resource.Policy

	once     sync.Once
	shadowed [][]int // see withShadowLabel
}

// in returns the configs of a scope; nil for a nil profile.
func (p *profileView) in(scope rules.Scope) *scopeConfigs {
	switch {
	case p == nil:
		return nil
	case scope == rules.Shadow:
		return p.shadow
	}
	return p.enforced
}

// configs returns the configs of a scope; none for a nil profile.
func (p *profileView) configs(scope rules.Scope) []*rules.Config {
	if p == nil {
		return nil
	}
	return p.in(scope).configs
}

// informed reports whether the shadow configs differ from the enforced ones.
func (p *profileView) informed() bool { return p != nil && p.shadow != p.enforced }

// dataplane returns the dataplane with the identity, or nil.
func (m *meshView) dataplane(id resource.ID) *resource.Dataplane {
	slot, known := m.slots.Lookup(proxyName{id.Namespace, id.Name})
	if !known {
		return nil
	}
	return m.dataplanes.Get(slot).resource
}

// profileOf returns the profile of a dataplane, or nil if d is not part of this
// state, or is part of it in another version.
func (m *meshView) profileOf(d *resource.Dataplane) *profileView {
	slot, known := m.slots.LookupFunc(proxyName{d.Namespace, d.Name}, func(slot uint32) bool {
		return m.dataplanes.Get(slot).resource == d
	})
	if !known {
		return nil
	}
	return m.profiles.Value(m.dataplanes.Get(slot).profile)
}

// batch returns all resources, as edits of an empty mesh.
func (m *meshView) batch() *meshBatch {
	b := &meshBatch{mesh: m.name, dataplanes: editsOf(m.sortedDataplanes()), policies: editsOf(slices.Collect(m.index.All()))}
	m.resources.addTo(b)
	sortByID(b.policies)
	return b
}

// dataplaneList contains the dataplanes of a mesh, sorted by identity. It is made
// at the first use.
type dataplaneList struct {
	once   sync.Once
	sorted []*resource.Dataplane
}

func (m *meshView) sortedDataplanes() []*resource.Dataplane {
	m.list.once.Do(func() {
		m.list.sorted = make([]*resource.Dataplane, 0, m.slots.Len())
		for slot := range m.slots.Limit() {
			if d := m.dataplanes.Value(slot).resource; d != nil {
				m.list.sorted = append(m.list.sorted, d)
			}
		}
		slices.SortFunc(m.list.sorted, func(a, b *resource.Dataplane) int { return a.ID.Compare(b.ID) })
	})
	return m.list.sorted
}
