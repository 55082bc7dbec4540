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
	// open reports that no permission is applied to dataplanes without identity (SPEC
	// 17.1).
	open bool
	// passthroughOff is that of [xds.Proxy].
	passthroughOff bool
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
		next := &meshState{
			identities: view.Identities(mesh), trusts: view.Trusts(mesh),
			open: !view.Semantics().PermissionsApply(view.Mesh(mesh), false), passthroughOff: !view.Mesh(mesh).Passthrough(),
		}
		var old *meshState
		if before != nil {
			old = before.meshes[mesh]
		}
		switch {
		case old == nil || old.identities != next.identities:
			next.services = servicesOf(view, mesh, next.identities, old)
		case len(changed[mesh]) > 0:
			next.services = old.servicesAfter(view, before.view, changed[mesh])
		case old.open == next.open && old.passthroughOff == next.passthroughOff && slices.Equal(old.trusts, next.trusts):
			next = old
		default:
			next.services = old.services
		}
		s.meshes[mesh] = next
	}
	return s
}

// servicesOf returns the services of a mesh. Old is an earlier state of the mesh, or nil.
func servicesOf(view *core.View, mesh string, identities *identity.Identities, old *meshState) map[string]*service {
	services := map[string]*service{}
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
		services[name] = before.after(endpoints)
	}
	return services
}

// servicesAfter returns the services after the given dataplanes were added, changed or
// removed.
func (m *meshState) servicesAfter(view, before *core.View, changed []resource.ID) map[string]*service {
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
	services := maps.Clone(m.services)
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
		services[name] = m.services[name].after(endpoints)
	}
	return services
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
