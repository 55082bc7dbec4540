package snapshot

import (
	"fmt"
	"slices"

	destinations "github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/internal/weakcache"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// target is a port of a destination that is a resource (SPEC 17.4).
type target struct {
	object resource.Destination
	port   resource.DestinationPort
	// ids are the SPIFFE IDs of a MeshService by its `identities`.
	ids []string
	tls semantics.ServiceTLS
	via path
	// zone is the zone of the clients, if the endpoints depend on it.
	zone string
	// external is how proxies connect to an external service themselves; nil for other
	// destinations, and if they use an egress.
	external *external
}

// path is what is between the proxies of a client and of an endpoint.
type path uint8

const (
	direct     path = iota
	viaIngress      // a MeshService of another zone
	viaEgress       // a MeshExternalService
	byZone          // a MeshMultiZoneService with MeshServices in other zones
	inZone          // the part of a MeshMultiZoneService that an ingress reaches
)

// unifiedNameTag is the tag by which policies of kind MeshProxyPatch select the outbound
// of a destination that is a resource. Its value is the KRI.
const unifiedNameTag = "kuma.io/unified-name"

// target returns the destination of an outbound to a resource, which the builder keeps. The
// clients are in the given zone, which may be empty. Clients of several zones share a
// destination if they reach it on the same path.
func (m *meshState) target(b *Builder, o *destinations.Outbound, zone string) *destination {
	via, zone := m.pathTo(o.Destination, zone)
	return m.targetOn(b, o, via, zone)
}

// targetOn is target for a given path.
func (m *meshState) targetOn(b *Builder, o *destinations.Outbound, via path, zone string) *destination {
	name := o.Destination.KRI(o.Port.SectionName())
	key := fmt.Sprintf("%s %p %d %s", name, o.Destination, via, zone)
	if s, is := o.Destination.(*resource.MeshExternalService); is && via == direct {
		for _, secret := range m.destinations.Secrets(s) {
			key += fmt.Sprintf(" %p", secret)
		}
	}
	return b.destinations.Get(key, func() *destination {
		meta := o.Destination.Identity()
		t := &target{object: o.Destination, port: o.Port, via: via, zone: zone, tls: m.semantics.ServiceTLS(o.Destination.State().TLSReady)}
		switch o := o.Destination.(type) {
		case *resource.MeshService:
			t.ids = m.semantics.SPIFFEIDs(o)
		case *resource.MeshExternalService:
			if via == direct {
				t.external = newExternal(b, m.destinations, o)
			}
		}
		return &destination{name: name, target: t, Destination: variant.Destination{
			Mesh: meta.Mesh, Tags: resource.NewTags(map[string]string{resource.ServiceTag: meta.DisplayName(), unifiedNameTag: name}),
		}}
	})
}

// pathTo returns the path from clients of a zone to a destination. The second result is the
// zone if the endpoints depend on it.
func (m *meshState) pathTo(d resource.Destination, zone string) (path, string) {
	reading := m.semantics.Zones()
	switch d := d.(type) {
	case *resource.MeshService:
		if reading.IsRemote(d, zone) {
			return viaIngress, ""
		}
	case *resource.MeshExternalService:
		if reading.Proxied {
			return viaEgress, zone
		}
	case *resource.MeshMultiZoneService:
		if reading.Proxied {
			return byZone, zone
		}
	}
	return direct, ""
}

// speaksHTTP2 reports whether proxies call each other by HTTP/2, regardless of the version of
// HTTP that the workloads use.
func (t *target) speaksHTTP2() bool {
	return t != nil && !t.isExternal()
}

// isMultiZone reports whether the target, which may be nil, is a MeshMultiZoneService.
func (t *target) isMultiZone() bool { return isA[*resource.MeshMultiZoneService](t) }

// isExternal reports whether the target, which may be nil, is an external service.
func (t *target) isExternal() bool { return isA[*resource.MeshExternalService](t) }

func isA[D resource.Destination](t *target) (is bool) {
	if t != nil {
		_, is = t.object.(D)
	}
	return is
}

// isDirect reports whether proxies connect to the external service themselves that the
// target, which may be nil, is.
func (t *target) isDirect() bool { return t != nil && t.external != nil }

// key returns the secret that proxies present to the target, which may be nil.
func (t *target) key() *wire.Resource {
	if !t.isDirect() {
		return nil
	}
	return t.external.key
}

// hasOtherSecrets reports whether the target, which may be nil, is an external service whose
// Secrets differ from the set's.
func (t *target) hasOtherSecrets(set *destinations.Directory) bool {
	return t.isDirect() && !slices.Equal(t.external.secrets, set.Secrets(t.object.(*resource.MeshExternalService)))
}

// servedBy returns the inbounds that serve a port of a MeshService, of all inbounds of its
// dataplanes.
func servedBy(port *specs.ServicePort, all []*xds.Endpoint) []*xds.Endpoint {
	serving := port.Target()
	var list []*xds.Endpoint
	for _, e := range all {
		if serving.Name != "" && e.Name == serving.Name || serving.Name == "" && e.Port == serving.Number {
			list = append(list, e)
		}
	}
	return eachOnce(list)
}

// noSPIFFEID is what a certificate must have where no SPIFFE ID is known. No certificate of
// a mesh has it, so every handshake fails (SPEC 17.4). Without an ID every certificate of
// the CA would be accepted.
const noSPIFFEID = "no SPIFFE ID is known"

// servicePort returns the port of a MeshService.
func (t *target) servicePort() *specs.ServicePort {
	ports := t.object.(*resource.MeshService).Spec.Ports
	at := slices.IndexFunc(ports, func(p specs.ServicePort) bool { return p.Port == t.port.Number })
	return &ports[at]
}

// endpointSet returns the endpoints of a MeshService, of all inbounds of its dataplanes.
func (t *target) endpointSet(all []*xds.Endpoint, known *weakcache.Cache[string, endpointFacts]) *endpointSet {
	list := servedBy(t.servicePort(), all)
	return &endpointSet{list: list, facts: t.facts(list, t.tls, t.idsOr(list)).shared(known)}
}

// idsOr returns the SPIFFE IDs by the `identities` of a MeshService, else the IDs of its
// endpoints.
func (t *target) idsOr(list []*xds.Endpoint) []string {
	if len(t.ids) > 0 {
		return t.ids
	}
	return collectFacts(list).ids
}

// facts returns the facts about the endpoints of MeshServices, which have one of the
// SPIFFE IDs if all are called by TLS.
func (t *target) facts(list []*xds.Endpoint, tls semantics.ServiceTLS, ids []string) *endpointFacts {
	f := collectFacts(list)
	f.protocol, f.onlyTCP = message.ProtocolOf(t.port.Protocol), false
	switch tls {
	case semantics.AlwaysTLS:
		f.secured, f.plain, f.ids = true, false, ids
		if len(ids) == 0 {
			f.ids, f.refused = []string{noSPIFFEID}, len(list) > 0
		}
	case semantics.NeverTLS:
		f.plain, f.ids = true, nil
	}
	return f
}
