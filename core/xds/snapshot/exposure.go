package snapshot

import (
	"slices"

	destinations "github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/resource"
)

// exposure is a port of a destination that the listeners of a zone proxy lead to, for
// connections with a server name.
type exposure struct {
	egress      bool // by listeners of type ZoneEgress
	destination *destination
	serverName  string // "" if the port has none: no connection leads to it
}

// exposures returns what the listeners of a zone proxy lead to, in the order of
// destinations and ports. An ingress leads to the MeshServices of its zone and to the
// MeshMultiZoneServices that have one of them. An egress leads to external services.
func (m *meshState) exposures(b *Builder, d *resource.Dataplane) (list []exposure) {
	if !m.zones.Proxied {
		return nil
	}
	ingress, egress := false, false
	for i := range d.Listeners {
		ingress, egress = ingress || !d.Listeners[i].Egress, egress || d.Listeners[i].Egress
	}
	zone := enforce.ZoneOf(d)
	for _, o := range m.destinations.All() {
		e := exposure{}
		via, of := direct, ""
		switch o := o.(type) {
		case *resource.MeshService:
			if !ingress || m.zones.IsRemote(o, zone) {
				continue
			}
		case *resource.MeshMultiZoneService:
			via, of = inZone, zone
			if !ingress || !m.joinsIn(b, o, zone) {
				continue
			}
		case *resource.MeshExternalService:
			if e.egress = true; !egress || !destinations.InZone(o, zone) {
				continue
			}
		}
		for _, port := range o.Ports() {
			e.destination = m.targetOn(b, &destinations.Outbound{Destination: o, Port: port}, via, of)
			e.serverName = m.serverName(o, port, zone)
			list = append(list, e)
		}
	}
	return list
}

// joinsIn reports whether a MeshMultiZoneService has a MeshService of a zone.
func (m *meshState) joinsIn(b *Builder, o *resource.MeshMultiZoneService, zone string) bool {
	if len(o.Ports()) == 0 {
		return false
	}
	d := m.targetOn(b, &destinations.Outbound{Destination: o, Port: o.Ports()[0]}, inZone, zone)
	_, services := m.zoned(b, d)
	return slices.ContainsFunc(services, func(s *resource.MeshService) bool { return !m.zones.IsRemote(s, zone) })
}

// serverName returns the server name by which the proxies of a zone recognize a port of a
// destination; "" if it has none.
func (m *meshState) serverName(o resource.Destination, port resource.DestinationPort, zone string) string {
	switch o.(type) {
	case *resource.MeshService:
		zone = o.Identity().Zone()
	case *resource.MeshExternalService:
		zone = ""
	}
	name, named := m.zones.ServerName(o, port, zone)
	if !named {
		return ""
	}
	return name
}
