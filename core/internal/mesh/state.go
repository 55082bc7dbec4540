package mesh

import (
	"hash/maphash"
	"slices"
	"sync"

	"github.com/meshmatch/meshmatch/core/internal/blocks"
	"github.com/meshmatch/meshmatch/core/internal/collector"
	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/identity"
	"github.com/meshmatch/meshmatch/core/internal/match"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/index"
)

// State is the immutable state of one mesh, safe for concurrent use. Versions share
// what did not change between them.
type State struct {
	name      string
	kinds     *resource.Kinds
	lineage   *lineage
	blocks    *blocks.Table
	resources *resources // those that are not dataplanes or policies

	slots      *index.Interner[proxyName]
	dataplanes index.Vector[dataplane]    // by slot
	profiles   index.Vector[*profileView] // by number
	members    index.Vector[*memberSet]   // by the number of their profile
	index      *match.Index
	list       *dataplaneList // shared by all versions with the same dataplanes
	toItems    *toItems       // shared by all versions with the same policies and destinations
}

// lineage identifies the versions that were made one from another. Slots and
// profile numbers have the same meaning within one lineage only.
type lineage struct{ _ byte }

// proxyName identifies a dataplane in its mesh.
type proxyName struct{ namespace, name string }

func hashName(seed maphash.Seed, n proxyName) uint64 {
	const prime = 0x9e37_79b9_7f4a_7c15
	return maphash.String(seed, n.namespace)*prime ^ maphash.String(seed, n.name)
}

// dataplane is what is kept for each dataplane: 16 bytes, in addition to its
// entry in slots.
type dataplane struct {
	resource *resource.Dataplane // nil: the slot is free
	profile  uint32
}

// profileView is the configuration of the dataplanes of one profile, which are in one
// class and have the same outbounds. It is immutable; a change makes a new one.
type profileView struct {
	enforced *profileConfigs
	// shadow includes the policies that only inform (SPEC 8.3). It is the same
	// pointer as enforced if none of them selects the dataplanes.
	shadow *profileConfigs
}

// profileConfigs are the configs of a profile in one scope.
type profileConfigs struct {
	class   *classConfigs
	configs []*results.Config // parallel to the class's
}

// in returns the configs of a scope; nil for a nil profile.
func (p *profileView) in(scope results.Scope) *profileConfigs {
	switch {
	case p == nil:
		return nil
	case scope == results.Shadow:
		return p.shadow
	}
	return p.enforced
}

// configs returns the configs of a scope; none for a nil profile.
func (p *profileView) configs(scope results.Scope) []*results.Config {
	if p == nil {
		return nil
	}
	return p.in(scope).configs
}

// informed reports whether the shadow configs differ from the enforced ones.
func (p *profileView) informed() bool { return p != nil && p.shadow != p.enforced }

// Name returns the name of the mesh.
func (m *State) Name() string { return m.name }

// Document returns the Mesh resource, or nil.
func (m *State) Document() *resource.Mesh { return m.resources.document }

// Identities returns the MeshIdentities, ready to be evaluated, or nil.
func (m *State) Identities() *identity.Identities { return m.resources.identities }

// Objects returns the objects of the mesh. The caller must not change the list.
func (m *State) Objects() Objects { return m.resources.objects }

// Collectors returns the MeshOpenTelemetryBackends, by which references are resolved; nil:
// there are none.
func (m *State) Collectors() *collector.Directory { return m.resources.collectors }

// Trusts returns the MeshTrusts, sorted by identity. They must not be changed.
func (m *State) Trusts() []*resource.MeshTrust { return m.resources.trusts }

// Policy returns the policy with the identity, or nil.
func (m *State) Policy(id resource.ID) *resource.Policy { return m.index.Policy(id) }

// Has reports whether there is a resource with the identity.
func (m *State) Has(id resource.ID) bool {
	if resource.IsObject(id.Kind) {
		return m.resources.objects.Get(id) != nil
	}
	switch id.Kind {
	case resource.MeshKind:
		return m.resources.document != nil
	case resource.DataplaneKind:
		return m.Dataplane(id) != nil
	}
	return m.index.Policy(id) != nil
}

// Policies returns the policies, of all kinds, sorted by identity.
func (m *State) Policies() []*resource.Policy {
	return slices.SortedFunc(m.index.All(), func(a, b *resource.Policy) int { return a.ID.Compare(b.ID) })
}

// Len returns the numbers of dataplanes and policies.
func (m *State) Len() (dataplanes, policies int) { return m.slots.Len(), m.index.Len() }

// Count adds the number of resources by kind to counts; it may add zeros.
func (m *State) Count(counts map[string]int) {
	if m.resources.document != nil {
		counts[resource.MeshKind]++
	}
	counts[resource.DataplaneKind] += m.slots.Len()
	m.resources.objects.Count(counts)
	for p := range m.index.All() {
		counts[p.Kind]++
	}
}

// Concerns reports whether a change of placements and bindings may change which
// policies are enforced.
func (m *State) Concerns(d *enforce.Delta) bool { return m.index.Concerns(m.name, d) }

// Dataplane returns the dataplane with the namespace and name of id, or nil.
func (m *State) Dataplane(id resource.ID) *resource.Dataplane {
	slot, known := m.slots.Lookup(proxyName{id.Namespace, id.Name})
	if !known {
		return nil
	}
	return m.dataplanes.Get(slot).resource
}

// profileOf returns the profile of a dataplane, or nil if d is not part of this
// state, or is part of it in another version.
func (m *State) profileOf(d *resource.Dataplane) *profileView {
	slot, known := m.slots.LookupFunc(proxyName{d.Namespace, d.Name}, func(slot uint32) bool {
		return m.dataplanes.Get(slot).resource == d
	})
	if !known {
		return nil
	}
	return m.profiles.Value(m.dataplanes.Get(slot).profile)
}

// batch returns all resources, as edits of an empty mesh.
func (m *State) batch() *Batch {
	b := &Batch{Mesh: m.name, Dataplanes: editsOf(m.Dataplanes()), Policies: editsOf(slices.Collect(m.index.All()))}
	m.resources.addTo(b)
	sortByID(b.Policies)
	return b
}

// dataplaneList contains the dataplanes of a mesh, sorted by identity. It is made
// at the first use.
type dataplaneList struct {
	once   sync.Once
	sorted []*resource.Dataplane
}

// Dataplanes returns the dataplanes, sorted by identity. The slice must not be
// changed. They are sorted at the first call after a change of the dataplanes.
func (m *State) Dataplanes() []*resource.Dataplane {
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
