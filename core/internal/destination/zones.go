package destination

import (
	"cmp"
	"maps"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Zones is how the proxies of a mesh reach destinations of other zones and external
// services (SPEC 17.4). It is immutable. The zero Zones has no addresses.
type Zones struct {
	semantics.ZoneReading
	identified bool // other zones are reached: the mesh has identities
	mtls       bool // the mesh has the identities of Kuma 2
	closed     bool // no external service is reached
	published  map[string]bool
	addresses  map[string][]ZoneAddress // of ingresses, by zone; sorted
	egresses   []Egress                 // sorted by address
	own        []Egress                 // ZoneEgresses
}

// ZoneAddress is an address at which other zones reach the ingress of a zone.
type ZoneAddress struct {
	Address string // an IP address or a host name
	Port    uint32
}

// Egress is an address at which dataplanes reach external services.
type Egress struct {
	ZoneAddress
	Zone string // empty: every zone
	// Dataplane has the listener; nil for a ZoneEgress.
	Dataplane *resource.Dataplane
}

// ZoneSources is what [NewZones] depends on.
type ZoneSources struct {
	Semantics semantics.Semantics
	Mesh      *resource.Mesh // nil: the mesh has no document
	// Identified reports whether the mesh has a MeshIdentity.
	Identified bool
	// Objects are the objects of the mesh, and Globals those without a mesh.
	Objects, Globals []resource.Object
	// Proxies are the dataplanes of the mesh with listeners of zone proxies.
	Proxies []*resource.Dataplane
}

// NewZones returns how the proxies of a mesh reach other zones.
func NewZones(from ZoneSources) *Zones {
	z := &Zones{ZoneReading: from.Semantics.Zones(), published: map[string]bool{}, addresses: map[string][]ZoneAddress{}}
	if !z.Proxied {
		return z
	}
	z.mtls = z.MTLSGivesIdentity && from.Mesh != nil && from.Mesh.Spec.MTLS.Enabled() != nil
	z.identified = from.Identified || z.mtls
	z.closed = z.NoExternalServices(from.Mesh) != ""
	for _, o := range from.Objects {
		if a, is := o.(*resource.ObjectOf[specs.MeshZoneAddress]); is && a.Zone() != "" {
			z.published[a.Zone()] = true
			z.add(a.Zone(), a.Spec.Address, a.Spec.Port)
		}
	}
	if z.ZoneIngressFallback {
		z.addFallbacks(from.Globals)
	}
	for _, list := range z.addresses {
		slices.SortFunc(list, ZoneAddress.compare)
	}
	for _, d := range from.Proxies {
		for i := range d.Listeners {
			if l := &d.Listeners[i]; l.Egress && !l.NotReady {
				z.egresses = append(z.egresses, Egress{ZoneAddress{cmp.Or(d.AdvertisedAddress, l.Address, d.Address), l.Port}, enforce.ZoneOf(d), d})
			}
		}
	}
	for _, list := range [][]Egress{z.egresses, z.own} {
		slices.SortStableFunc(list, func(a, b Egress) int { return a.compare(b.ZoneAddress) })
	}
	return z
}

func (z *Zones) add(zone, address string, port uint32) {
	a := ZoneAddress{address, port}
	if !slices.Contains(z.addresses[zone], a) {
		z.addresses[zone] = append(z.addresses[zone], a)
	}
}

// addFallbacks adds the ZoneEgresses, and the ZoneIngresses of zones without MeshZoneAddress.
func (z *Zones) addFallbacks(globals []resource.Object) {
	for _, o := range globals {
		switch o := o.(type) {
		case *resource.ZoneIngress:
			n := &o.Spec.Networking
			if zone := o.Zone(); zone != "" && !z.published[zone] && n.AdvertisedAddress != "" && n.AdvertisedPort != 0 {
				z.add(zone, n.AdvertisedAddress, n.AdvertisedPort)
			}
		case *resource.ZoneEgress:
			if n := &o.Spec.Networking; n.Address != "" {
				z.own = append(z.own, Egress{ZoneAddress{n.Address, n.Port}, o.Zone(), nil})
			}
		}
	}
}

func (a ZoneAddress) compare(b ZoneAddress) int {
	return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(a.Port, b.Port))
}

// Equal reports whether two Zones are the same for every proxy.
func (z *Zones) Equal(o *Zones) bool {
	return z.ZoneReading == o.ZoneReading && z.identified == o.identified && z.mtls == o.mtls && z.closed == o.closed &&
		maps.Equal(z.published, o.published) && maps.EqualFunc(z.addresses, o.addresses, slices.Equal) &&
		slices.Equal(z.egresses, o.egresses) && slices.Equal(z.own, o.own)
}

// Addresses returns the addresses at which other zones reach the MeshServices of a zone. It
// returns none if the mesh has no identities, because a zone proxy passes on TLS only. The
// caller must not change the slice.
func (z *Zones) Addresses(zone string) []ZoneAddress {
	if !z.identified {
		return nil
	}
	return z.addresses[zone]
}

// Identified reports whether the mesh has identities, without which no other zone is
// reached.
func (z *Zones) Identified() bool { return z.identified }

// Egresses returns where the dataplanes of a zone reach external services: the listeners of
// their zone or, in Kuma 2, the ZoneEgresses of their zone if there is no listener.
func (z *Zones) Egresses(zone string) []Egress {
	of := func(list []Egress) (found []Egress) {
		for _, e := range list {
			if !inOtherZone(e.Zone, zone) {
				found = append(found, e)
			}
		}
		return found
	}
	if z.closed {
		return nil
	}
	if found := of(z.egresses); len(found) > 0 {
		return found
	}
	return of(z.own)
}

// ServerName returns the server name by which a proxy of a zone recognizes a port of a
// destination. It returns false if the port has none, so that no other zone reaches it. The
// zone is empty for the egress of the client's own zone.
func (z *Zones) ServerName(d resource.Destination, port resource.DestinationPort, zone string) (string, bool) {
	if z.Kuma2ServerNames && (z.mtls || zone != "" && !z.published[zone]) {
		return hashedServerName(d, port), true
	}
	return serverName(d, port)
}

// EgressName returns the server name by which an egress recognizes an external service.
func (z *Zones) EgressName(d resource.Destination, port resource.DestinationPort, e *Egress) (string, bool) {
	if e.Dataplane == nil {
		return hashedServerName(d, port), true
	}
	return z.ServerName(d, port, "")
}

// InZone reports whether the proxies of a zone serve a destination to clients elsewhere: it
// belongs to the zone or to no zone. Both may be empty.
func InZone(d resource.Destination, zone string) bool { return !inOtherZone(d.Identity().Zone(), zone) }
