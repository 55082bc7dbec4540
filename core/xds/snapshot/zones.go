package snapshot

import (
	"slices"
	"sync"

	"github.com/meshmatch/meshmatch/core"
	destinations "github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
)

// zones is how the proxies of a mesh reach other zones and external services. States share
// it until it, or an identity, changes.
type zones struct{ *destinations.Zones }

// zonedSet is the last endpoints of a destination behind a zone proxy, or of a
// MeshMultiZoneService, and what they depend on. The SPIFFE IDs may depend on the dataplanes of
// a MeshService. A destination refers to its set, so both are freed together.
type zonedSet struct {
	mu           sync.Mutex
	state        uint64 // the number of the state that asked last
	zones        *zones
	destinations *destinations.Directory
	services     []*resource.MeshService // of destinations
	selected     []*service              // parallel to services
	*endpointSet
}

// findZones sets the zones of a mesh and its zone proxies. Old is an earlier state of the
// mesh in the view was, and changed are the dataplanes that differ since; both may be nil.
// The cost of a change of other dataplanes is proportional to their number.
func (m *meshState) findZones(view, was *core.View, mesh string, old *meshState, changed []resource.ID) {
	m.proxies = proxiesAfter(view, mesh, old, changed)
	if old != nil && same(old.proxies, m.proxies) && old.identities == m.identities && was.Mesh(mesh) == view.Mesh(mesh) &&
		same(was.Objects(mesh), view.Objects(mesh)) && same(was.Objects(""), view.Objects("")) {
		m.zones = old.zones
		return
	}
	m.zones = &zones{destinations.NewZones(destinations.ZoneSources{
		Semantics: m.semantics, Mesh: view.Mesh(mesh), Identified: len(m.identities.All()) > 0,
		Objects: view.Objects(mesh), Globals: view.Objects(""), Proxies: m.proxies,
	})}
	if old != nil && old.identities == m.identities && old.zones.Equal(m.zones.Zones) {
		m.zones = old.zones
	}
}

// proxiesAfter returns the dataplanes with listeners of zone proxies.
func proxiesAfter(view *core.View, mesh string, old *meshState, changed []resource.ID) (proxies []*resource.Dataplane) {
	if old == nil {
		for _, d := range view.Dataplanes(mesh) {
			if len(d.Listeners) > 0 {
				proxies = append(proxies, d)
			}
		}
		return proxies
	}
	proxies = old.proxies
	for _, id := range changed {
		at, found := slices.BinarySearchFunc(proxies, id, func(d *resource.Dataplane, id resource.ID) int { return d.Compare(id) })
		next := view.Dataplane(id)
		isProxy := next != nil && len(next.Listeners) > 0
		if !found && !isProxy {
			continue
		}
		proxies = slices.Clone(proxies)
		switch {
		case !isProxy:
			proxies = slices.Delete(proxies, at, at+1)
		case found:
			proxies[at] = next
		default:
			proxies = slices.Insert(proxies, at, next)
		}
	}
	return proxies
}

// zoned returns the endpoints of a destination behind a zone proxy or of a
// MeshMultiZoneService, and its MeshServices. If the endpoints have not changed, it returns the
// previous pointer.
func (m *meshState) zoned(b *Builder, d *destination) (*endpointSet, []*resource.MeshService) {
	z := &d.zoned
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.state == m.number {
		return z.endpointSet, z.services
	}
	services, next := z.services, m.egressSet
	switch o := d.target.object.(type) {
	case *resource.MeshService:
		services, next = []*resource.MeshService{o}, m.ingressSet
	case *resource.MeshMultiZoneService:
		if next = m.joinedSet; z.destinations != m.destinations {
			services, z.destinations = m.destinations.MeshServicesOf(o), m.destinations
		}
	}
	var selected []*service
	for _, s := range services {
		selected = append(selected, m.selected.get(s.ID))
	}
	if z.endpointSet == nil || z.zones != m.zones || !slices.Equal(z.services, services) || !slices.Equal(z.selected, selected) {
		if set := next(b, d.target, services, selected); z.endpointSet == nil || z.facts != set.facts || !slices.EqualFunc(z.list, set.list, equalEndpoints) {
			z.endpointSet = set
		}
	}
	z.state, z.zones, z.services, z.selected = m.number, m.zones, services, selected
	return z.endpointSet, services
}

// ingressSet returns the addresses of the zone of a MeshService. Selected has the inbounds
// of its dataplanes, which may be nil.
func (m *meshState) ingressSet(b *Builder, t *target, services []*resource.MeshService, selected []*service) *endpointSet {
	list, named := m.ingresses(t, services[0].Zone())
	ids := t.ids
	if len(ids) == 0 && selected[0] != nil {
		ids = t.idsOr(servedBy(t.servicePort(), selected[0].endpoints))
	}
	facts := t.facts(list, semantics.AlwaysTLS, ids)
	facts.unnamed = !named
	return &endpointSet{list: list, facts: facts.shared(&b.facts)}
}

// ingresses returns the addresses of a zone as endpoints of a destination. It returns false
// if the ingress of the zone cannot recognize the destination.
func (m *meshState) ingresses(t *target, zone string) (list []*xds.Endpoint, named bool) {
	name, named := m.zones.ServerName(t.object, t.port, zone)
	for _, a := range m.zones.Addresses(zone) {
		list = append(list, &xds.Endpoint{Address: a.Address, Port: a.Port, Zone: zone, Protocol: message.ProtocolOf(t.port.Protocol), ServerName: name})
	}
	return list, named
}

// egressSet returns the egresses through which dataplanes of a zone reach an external
// service. They use TLS if an egress has an identity.
func (m *meshState) egressSet(b *Builder, t *target, _ []*resource.MeshService, _ []*service) *endpointSet {
	var list []*xds.Endpoint
	named, egresses := true, m.zones.Egresses(t.zone)
	for i := range egresses {
		e := &egresses[i]
		endpoint := &xds.Endpoint{Address: e.Address, Port: e.Port, Zone: e.Zone, Protocol: message.ProtocolOf(t.port.Protocol)}
		if e.Dataplane != nil {
			endpoint.SPIFFEID = spiffeIDOf(e.Dataplane, m.identities)
		}
		name, ok := m.zones.EgressName(t.object, t.port, e)
		endpoint.ServerName, named = name, named && ok
		list = append(list, endpoint)
	}
	tls, ids := semantics.NeverTLS, collectFacts(list).ids
	if len(ids) > 0 {
		tls = semantics.AlwaysTLS
	}
	facts := t.facts(list, tls, ids)
	facts.unnamed = !named
	return &endpointSet{list: list, facts: facts.shared(&b.facts)}
}
