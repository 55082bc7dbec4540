package snapshot

import (
	"maps"
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
)

// joinedSet returns the endpoints of all MeshServices of a MeshMultiZoneService (SPEC 17.4).
// Those of other zones are reached by the addresses of their zones, if they are available.
func (m *meshState) joinedSet(b *Builder, t *target, services []*resource.MeshService, selected []*service) *endpointSet {
	var list []*xds.Endpoint
	var ids []string
	named := true
	for i, s := range services {
		port := m.semantics.JoinedPort(t.port, s)
		if port == nil {
			continue
		}
		of := &target{ids: m.semantics.SPIFFEIDs(s)}
		served := servedBy(port, selected[i].endpoints)
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
	return &endpointSet{list: list, facts: facts.shared(&b.facts)}
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
