package snapshot

import (
	"cmp"
	"maps"
	"slices"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/identity"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/message"
)

// A State is the snapshots of all dataplanes of a view. Snapshots are built when they
// are asked for. It is immutable and safe for concurrent use.
type State struct {
	builder *Builder
	view    *core.View
	meshes  map[string]*meshState
}

// meshState is what the snapshots of a mesh share. States share it while no dataplane
// and no identity of the mesh changes.
type meshState struct {
	services   map[string]*service
	identities *identity.Identities
	trusts     []*resource.MeshTrust
}

// newState returns the state of a view. Before is an earlier state, or nil.
func newState(b *Builder, view *core.View, before *State) *State {
	s := &State{builder: b, view: view, meshes: map[string]*meshState{}}
	changed := map[string][]resource.ID{}
	if before != nil {
		for old, next := range core.EditedDataplanes(before.view, view) {
			d := cmp.Or(next, old)
			changed[d.Mesh] = append(changed[d.Mesh], d.ID)
			if next == nil {
				b.forget(d.ID)
			}
		}
	}
	for _, mesh := range view.Meshes() {
		identities, trusts := view.Identities(mesh), view.Trusts(mesh)
		var old *meshState
		if before != nil {
			old = before.meshes[mesh]
		}
		switch {
		case old == nil || old.identities != identities:
			s.meshes[mesh] = newMeshState(view, mesh, identities, trusts, old)
		case len(changed[mesh]) > 0:
			s.meshes[mesh] = old.after(view, before.view, changed[mesh], trusts)
		case slices.Equal(old.trusts, trusts):
			s.meshes[mesh] = old
		default:
			s.meshes[mesh] = &meshState{old.services, identities, trusts}
		}
	}
	return s
}

func newMeshState(view *core.View, mesh string, identities *identity.Identities, trusts []*resource.MeshTrust, old *meshState) *meshState {
	m := &meshState{services: map[string]*service{}, identities: identities, trusts: trusts}
	byService := map[string][]*xds.Endpoint{}
	for _, d := range view.Dataplanes(mesh) {
		for _, e := range endpointsOf(d, identities) {
			name := e.Tags.Value(resource.ServiceTag)
			byService[name] = append(byService[name], e)
		}
	}
	for name, endpoints := range byService {
		slices.SortFunc(endpoints, compareEndpoints)
		var before *service
		if old != nil {
			before = old.services[name]
		}
		m.services[name] = before.after(endpoints)
	}
	return m
}

// after returns the state after the given dataplanes were added, changed or removed.
func (m *meshState) after(view, before *core.View, changed []resource.ID, trusts []*resource.MeshTrust) *meshState {
	type difference struct {
		without map[resource.ID]bool
		with    []*xds.Endpoint
	}
	touched := map[string]*difference{}
	at := func(service string) *difference {
		if touched[service] == nil {
			touched[service] = &difference{without: map[resource.ID]bool{}}
		}
		return touched[service]
	}
	for _, id := range changed {
		if d := before.Dataplane(id); d != nil {
			for i := range d.Inbounds {
				at(d.Inbounds[i].Tags.Value(resource.ServiceTag)).without[id] = true
			}
		}
		if d := view.Dataplane(id); d != nil {
			for _, e := range endpointsOf(d, m.identities) {
				service := at(e.Tags.Value(resource.ServiceTag))
				service.with = append(service.with, e)
			}
		}
	}
	next := &meshState{services: maps.Clone(m.services), identities: m.identities, trusts: trusts}
	for name, d := range touched {
		endpoints := d.with
		if old := m.services[name]; old != nil {
			for _, e := range old.endpoints {
				if !d.without[e.Dataplane] {
					endpoints = append(endpoints, e)
				}
			}
		}
		slices.SortFunc(endpoints, compareEndpoints)
		next.services[name] = m.services[name].after(endpoints)
	}
	return next
}

// endpoints returns the endpoints of a destination.
func (m *meshState) endpoints(b *Builder, d *destination) *endpointSet {
	s := m.services[d.Tags.Value(resource.ServiceTag)]
	if s == nil {
		return &noEndpoints
	}
	return s.set(d, &b.facts)
}

// noEndpoints are those of a service that no dataplane has.
var noEndpoints = endpointSet{facts: &endpointFacts{protocol: message.TCP}}

// View returns the view of the state.
func (s *State) View() *core.View { return s.view }
