package snapshot

import (
	"cmp"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/collector"
	destinations "github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/internal/identity"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/xds/memo"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
)

// A State provides the snapshots of all dataplanes of a view, and builds them on demand. It
// is immutable and safe for concurrent use.
type State struct {
	builder *Builder
	number  uint64 // of the states of the builder
	view    *core.View
	steps   []*step // the last ones, that to this state at the end
	meshes  map[string]*meshState
	memo    memo.Memo // of the inbounds
	confs   sync.Map  // *kindConfs by the first element of the configs
	passing sync.Map  // the result of passthroughConfs by the first element of the configs

	// left has by locator the step in which it left this state first (see moves), and relocated is a memo
	// by relocation.
	left, relocated sync.Map
}

// meshState is what the snapshots of a mesh share. States share it while no dataplane
// and no identity of the mesh changes.
type meshState struct {
	semantics semantics.Semantics
	services  serviceMap[string] // by the tag kuma.io/service
	// selected are all ready inbounds of the dataplanes that a MeshService selects.
	selected     serviceMap[resource.ID]
	selectors    *destinations.Selectors
	destinations *destinations.Directory
	collectors   *collector.Directory
	identities   *identity.Identities
	trusts       []*resource.MeshTrust
	// open reports that no permission is applied to dataplanes without identity (SPEC
	// 17.1).
	open bool
	// openIdentified is open for dataplanes that a MeshIdentity selects.
	openIdentified bool
	// passthroughOff is a field of [xds.Proxy].
	passthroughOff bool
	// noExternal reports that external services have no endpoints.
	noExternal bool
	// given is what gives transparent proxies their outbounds.
	given outboundSources
	// proxies are the dataplanes with listeners of zone proxies, sorted by identity.
	proxies []*resource.Dataplane
	zones   *zones

	// number is different for each state of a mesh, and since is what changed after the previous
	// state.
	number uint64
	since  changes
}

// changes are the inputs and the services that may differ from those of an earlier state of a mesh.
type changes struct {
	number   uint64 // of the earlier state; 0: there is none
	inputs   inputSet
	services serviceBits
}

// newState returns the state of a view. Before is an earlier state, or nil.
func newState(b *Builder, view *core.View, before *State) *State {
	s := &State{builder: b, view: view, meshes: map[string]*meshState{}}
	changed := map[string][]resource.ID{}
	if before != nil {
		s.number = before.number + 1
		s.steps = before.stepsTo(view)
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
			semantics: view.Semantics(), destinations: view.Destinations(mesh), collectors: view.Collectors(mesh),
			identities: view.Identities(mesh), trusts: view.Trusts(mesh),
			open:           !view.Semantics().PermissionsApply(view.Mesh(mesh), false),
			openIdentified: !view.Semantics().PermissionsApply(view.Mesh(mesh), true),
			passthroughOff: !view.Semantics().Passthrough(view.Mesh(mesh)),
			noExternal:     view.Semantics().Zones().NoExternalServices(view.Mesh(mesh)) != "",
		}
		var old *meshState
		var was *core.View
		if before != nil {
			old, was = before.meshes[mesh], before.view
		}
		next.findZones(view, was, mesh, old, changed[mesh])
		next.findSources(view, was, mesh, old)
		switch {
		case old == nil || old.identities != next.identities:
			next.findEndpoints(view, mesh, old)
			next.since.services = allServices
		case len(changed[mesh]) > 0 || old.destinations != next.destinations:
			next.selectors = old.selectors
			next.services, next.selected, next.since.services = old.endpointsAfter(b.seed, view, before.view, changed[mesh])
			if old.destinations != next.destinations {
				next.selectAgain(view, mesh, old)
				next.since.services = allServices
			}
		case old.collectors == next.collectors && old.open == next.open && old.openIdentified == next.openIdentified && old.passthroughOff == next.passthroughOff && old.noExternal == next.noExternal && old.given.equal(&next.given) && old.zones == next.zones && slices.Equal(old.trusts, next.trusts):
			next = old
		default:
			next.services, next.selected, next.selectors = old.services, old.selected, old.selectors
		}
		if next != old {
			next.number = b.meshStates.Add(1)
		}
		if old != nil && next != old {
			next.since.number, next.since.inputs = old.number, allInputs.differing(old, next)
		}
		s.meshes[mesh] = next
	}
	return s
}

// findEndpoints sets the endpoints by the dataplanes of a mesh. Old is an earlier state of
// the mesh, or nil.
func (m *meshState) findEndpoints(view *core.View, mesh string, old *meshState) {
	services, selected := map[string]*service{}, map[resource.ID]*service{}
	m.selectors = destinations.NewSelectors(m.semantics, resource.ObjectsOf[*resource.MeshService](view.Objects(mesh)))
	byService, bySelector := map[string][]*xds.Endpoint{}, map[resource.ID][]*xds.Endpoint{}
	for _, d := range view.Dataplanes(mesh) {
		endpoints := endpointsOf(m.semantics, d, m.identities)
		for _, e := range endpoints {
			name := e.Tags.Value(resource.ServiceTag)
			byService[name] = append(byService[name], e)
		}
		for _, s := range m.selectors.ServicesOf(d) {
			bySelector[s.ID] = append(bySelector[s.ID], endpoints...)
		}
	}
	if old == nil {
		old = new(meshState)
	}
	for name, endpoints := range byService {
		slices.SortFunc(endpoints, compareEndpoints)
		services[name] = old.services.get(name).after(endpoints)
	}
	for id := range m.selectors.All() {
		slices.SortFunc(bySelector[id], compareEndpoints)
		selected[id] = old.selected.get(id).after(bySelector[id])
	}
	m.services.base, m.selected.base = services, selected
}

// selectAgain sets the selectors, and the endpoints of the MeshServices that were added or
// changed since an earlier state of the mesh.
func (m *meshState) selectAgain(view *core.View, mesh string, old *meshState) {
	all := resource.ObjectsOf[*resource.MeshService](view.Objects(mesh))
	m.selectors = destinations.NewSelectors(m.semantics, all)
	kept, selected := m.selected, make(map[resource.ID]*service, len(all))
	m.selected = serviceMap[resource.ID]{base: selected}
	var changed []*resource.MeshService
	for _, s := range all {
		if old.selectors.All()[s.ID] == s {
			selected[s.ID] = kept.get(s.ID)
		} else {
			changed = append(changed, s)
		}
	}
	if len(changed) == 0 {
		return
	}
	selecting, endpoints := destinations.NewSelectors(m.semantics, changed), map[resource.ID][]*xds.Endpoint{}
	for _, d := range view.Dataplanes(mesh) {
		for _, s := range selecting.ServicesOf(d) {
			endpoints[s.ID] = append(endpoints[s.ID], endpointsOf(m.semantics, d, m.identities)...)
		}
	}
	for _, s := range changed {
		slices.SortFunc(endpoints[s.ID], compareEndpoints)
		selected[s.ID] = kept.get(s.ID).after(endpoints[s.ID])
	}
}

// endpointsAfter returns the endpoints after the given dataplanes were added, changed or
// removed, and which of them may differ.
func (m *meshState) endpointsAfter(seed maphash.Seed, view, before *core.View, changed []resource.ID) (services serviceMap[string], selected serviceMap[resource.ID], differ serviceBits) {
	ofTags, ofSelectors := differences[string]{}, differences[resource.ID]{}
	for _, id := range changed {
		if d := before.Dataplane(id); d != nil {
			for i := range d.Inbounds {
				tags := m.semantics.ComparedTags(d, d.Inbounds[i].Tags)
				ofTags.differenceOf(tags.Value(resource.ServiceTag)).without[id] = true
			}
			for _, s := range m.selectors.ServicesOf(d) {
				ofSelectors.differenceOf(s.ID).without[id] = true
			}
		}
		if d := view.Dataplane(id); d != nil {
			endpoints := endpointsOf(m.semantics, d, m.identities)
			for _, e := range endpoints {
				service := ofTags.differenceOf(e.Tags.Value(resource.ServiceTag))
				service.with = append(service.with, e)
			}
			for _, s := range m.selectors.ServicesOf(d) {
				service := ofSelectors.differenceOf(s.ID)
				service.with = append(service.with, endpoints...)
			}
		}
	}
	for name := range ofTags {
		differ |= serviceBit(seed, name)
	}
	for id := range ofSelectors {
		differ |= serviceBit(seed, id)
	}
	return ofTags.after(m.services), ofSelectors.after(m.selected), differ
}

// differences are the changes of services.
type differences[K comparable] map[K]*difference

// difference is the change of a service: without the endpoints of some dataplanes, and with
// others.
type difference struct {
	without map[resource.ID]bool
	with    []*xds.Endpoint
}

func (d differences[K]) differenceOf(service K) *difference {
	if d[service] == nil {
		d[service] = &difference{without: map[resource.ID]bool{}}
	}
	return d[service]
}

// after returns the services after the changes.
func (d differences[K]) after(before serviceMap[K]) serviceMap[K] {
	services := make(map[K]*service, len(d))
	for key, change := range d {
		endpoints := change.with
		if old := before.get(key); old != nil {
			for _, e := range old.endpoints {
				if !change.without[e.Dataplane] {
					endpoints = append(endpoints, e)
				}
			}
		}
		slices.SortFunc(endpoints, compareEndpoints)
		services[key] = before.get(key).after(endpoints)
	}
	return before.with(services)
}

// endpoints returns the endpoints of a destination.
func (m *meshState) endpoints(b *Builder, d *destination) *endpointSet {
	var s *service
	switch {
	case d.target == nil:
		s = m.services.get(d.Tags.Value(resource.ServiceTag))
	case d.target.external != nil && m.noExternal:
		return d.target.external.closed
	case d.target.external != nil:
		return d.target.external.endpoints
	case d.target.via == viaIngress || d.target.via == viaEgress || d.target.isMultiZone():
		set, _ := m.zoned(b, d)
		return set
	default:
		s = m.selected.get(d.target.object.Identity().ID)
	}
	if s == nil {
		return &noEndpoints
	}
	return s.set(d, &b.facts)
}

// noEndpoints are the endpoints of a service that no dataplane has.
var noEndpoints = endpointSet{facts: &endpointFacts{protocol: message.TCP}}

// View returns the view of the state.
func (s *State) View() *core.View { return s.view }
