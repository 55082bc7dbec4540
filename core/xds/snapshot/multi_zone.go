package snapshot

import (
	"maps"
	"slices"
	"sync"

	destinations "github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
)

// multiZones are the endpoints of the MeshMultiZoneServices of a mesh, which are made on
// demand.
type multiZones struct {
	mu     sync.Mutex
	sets   map[*destination]*multiZone
	before map[*destination]*multiZone // of the previous state
}

// multiZone is the endpoints of a port of a MeshMultiZoneService, and what they depend on.
type multiZone struct {
	destinations *destinations.Set
	zones        *zones
	services     []*resource.MeshService // of destinations
	selected     []*service              // parallel to services
	*endpointSet
}

// after returns the endpoints of the next state; m may be nil.
func (m *multiZones) after() *multiZones {
	next := &multiZones{sets: map[*destination]*multiZone{}}
	if m != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		next.before = maps.Clone(m.sets)
	}
	return next
}

// multiZone returns the endpoints of a port of a MeshMultiZoneService (SPEC 17.4). If the
// previous state has the same ones, it returns their pointer.
func (m *meshState) multiZone(b *Builder, d *destination) *endpointSet {
	m.multiZones.mu.Lock()
	defer m.multiZones.mu.Unlock()
	if known := m.multiZones.sets[d]; known != nil {
		return known.endpointSet
	}
	z := &multiZone{destinations: m.destinations, zones: m.zones}
	before := m.multiZones.before[d]
	if before != nil && before.destinations == m.destinations {
		z.services = before.services
	} else {
		z.services = m.destinations.MeshServicesOf(d.target.object.(*resource.MeshMultiZoneService))
	}
	for _, s := range z.services {
		z.selected = append(z.selected, m.selected.get(s.ID))
	}
	if before != nil && before.destinations == m.destinations && before.zones == m.zones && slices.Equal(before.selected, z.selected) {
		z.endpointSet = before.endpointSet
	} else if z.endpointSet = m.join(b, d.target, z); before != nil && before.facts == z.facts && slices.EqualFunc(before.list, z.list, equalEndpoints) {
		z.endpointSet = before.endpointSet
	}
	m.multiZones.sets[d] = z
	return z.endpointSet
}

// joined returns the MeshServices of a MeshMultiZoneService.
func (m *meshState) joined(b *Builder, d *destination) []*resource.MeshService {
	m.multiZone(b, d)
	m.multiZones.mu.Lock()
	defer m.multiZones.mu.Unlock()
	return m.multiZones.sets[d].services
}

// join returns the endpoints of all MeshServices. Those of other zones are reached by the
// addresses of their zones, if they are available.
func (m *meshState) join(b *Builder, t *target, z *multiZone) *endpointSet {
	var list []*xds.Endpoint
	var ids []string
	named := true
	for i, s := range z.services {
		port := m.semantics.JoinedPort(t.port, s)
		if port == nil {
			continue
		}
		of := &target{ids: m.semantics.SPIFFEIDs(s)}
		served := servedBy(port, z.selected[i].endpoints)
		ids = append(ids, of.idsOr(served)...)
		switch {
		case !m.semantics.Zones().IsRemote(s, t.zone):
			list = append(list, served...)
		case t.via == byZone && m.semantics.JoinsElsewhere(s):
			found, ok := m.ingresses(t, s.Zone())
			list, named = append(list, found...), named && (ok || len(found) == 0)
		}
	}
	slices.SortFunc(list, compareEndpoints)
	list = slices.CompactFunc(list, func(a, b *xds.Endpoint) bool { return compareEndpoints(a, b) == 0 })
	slices.Sort(ids)
	facts := t.facts(list, m.semantics.MultiZoneTLS(), slices.Compact(ids))
	facts.unnamed = !named
	return &endpointSet{list: list, facts: facts.kept(&b.facts)}
}

// zonesOf returns endpoints in localities, one for each zone. Those of the client's zone
// have priority 0, and the others have the next one.
func zonesOf(list []*xds.Endpoint, zone string) (localities []xds.Locality) {
	byZone := map[string][]*xds.Endpoint{}
	for _, e := range list {
		byZone[e.Zone] = append(byZone[e.Zone], e)
	}
	for _, z := range slices.Sorted(maps.Keys(byZone)) {
		l := xds.Locality{Zone: z, Weight: uint32(len(byZone[z])), Endpoints: byZone[z]}
		if z != zone && len(byZone[zone]) > 0 {
			l.Priority = 1
		}
		localities = append(localities, l)
	}
	return localities
}
