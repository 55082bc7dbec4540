package semantics

import "github.com/meshmatch/meshmatch/core/resource"

// ZoneReading determines how proxies reach destinations of other zones and external
// services (SPEC 17.4). The zero ZoneReading connects to them directly.
type ZoneReading struct {
	// Proxied reports that they are reached through the proxies of zones only.
	Proxied bool
	// ZoneIngressFallback reports that ZoneIngresses and ZoneEgresses are used where zone
	// proxies are missing.
	ZoneIngressFallback bool
	// MTLSGivesIdentity reports that the `mtls` of a Mesh gives every dataplane an identity.
	MTLSGivesIdentity bool
	// Kuma2ServerNames reports that server names may have the form of Kuma 2.
	Kuma2ServerNames bool
	// RoutingForbids reports that the `routing` of a Mesh may forbid MeshExternalServices.
	RoutingForbids bool
}

// Zones returns how proxies reach destinations of other zones and external services.
func (s Semantics) Zones() ZoneReading {
	kuma2 := s == Kuma
	return ZoneReading{
		Proxied: s.isKuma(), ZoneIngressFallback: kuma2, MTLSGivesIdentity: kuma2, Kuma2ServerNames: kuma2, RoutingForbids: kuma2,
	}
}

// IsRemote reports whether a MeshService belongs to another zone than a client with the
// given zone, which may be empty. A client without a zone recognizes other zones by
// their origin alone.
func (r ZoneReading) IsRemote(service *resource.MeshService, zone string) bool {
	switch of := service.Zone(); {
	case !r.Proxied || of == "":
		return false
	case zone == "":
		return service.Origin() == resource.GlobalOrigin
	default:
		return of != zone
	}
}

// NoExternalServices returns the field of a Mesh, which may be nil, for which no
// MeshExternalService has endpoints; "" if there is none.
func (r ZoneReading) NoExternalServices(m *resource.Mesh) (path string) {
	switch {
	case !r.Proxied:
		return m.NoExternalServices()
	case r.RoutingForbids && m != nil && m.Spec.Routing != nil && m.Spec.Routing.DefaultForbidMeshExternalServiceAccess:
		return "routing.defaultForbidMeshExternalServiceAccess"
	}
	return ""
}
