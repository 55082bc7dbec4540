package snapshot

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/xds"
)

// grpcEndpoints returns the endpoints of a destination that gRPC can use together, in
// their order (SPEC 11.4). A cluster of gRPC has one transport socket, and it has either
// addresses or one host name. It omits an endpoint if it
//
//   - belongs to a zone proxy, because gRPC sends no server name of its own,
//   - has no identity although the client and another endpoint have one,
//   - has the address of an earlier endpoint, or
//   - has a host name, unless it is the first one and no endpoint has an address.
//
// Warn, which may be nil, is called with what is left out.
func grpcEndpoints(set *endpointSet, tls clientTLS, warn func(code diag.Code, format string, args ...any)) []*xds.Endpoint {
	if set.facts.ownTLS {
		if warn != nil {
			warn(diag.NotInGRPC, "an external service with TLS has no endpoints: gRPC takes certificates from its bootstrap alone")
		}
		return nil
	}
	secure := tls.enabled() && len(set.facts.ids) > 0
	var addresses, names []*xds.Endpoint
	for _, e := range set.list {
		switch {
		case e.ServerName != "":
		case secure && e.SPIFFEID == "":
		case isHostName(e):
			names = append(names, e)
		default:
			addresses = append(addresses, e)
		}
	}
	left := names
	if len(addresses) == 0 && len(names) > 0 {
		addresses = names[:1]
		left = slices.DeleteFunc(slices.Clone(names), func(e *xds.Endpoint) bool { return isAt(names[0], e) })
	}
	if warn != nil && len(set.facts.serverNames) > 0 {
		warn(diag.NotInGRPC, "endpoints behind zone proxies are left out: gRPC does not send the server name by which a zone proxy recognizes the service")
	}
	if warn != nil && secure && set.facts.plain {
		warn(diag.NotInGRPC, "endpoints without identity are left out: a gRPC client with identity uses TLS for all endpoints of a service, or for none")
	}
	if warn != nil && len(left) > 0 {
		warn(diag.NotInGRPC, "endpoints with host names, such as %s, are left out: gRPC resolves one host name, and only if it is the only endpoint", left[0].Address)
	}
	return slices.CompactFunc(addresses, isAt)
}

// isAt reports whether two endpoints have the same address and port.
func isAt(e, o *xds.Endpoint) bool { return e.Address == o.Address && e.Port == o.Port }

// isHostName reports whether the endpoints that gRPC can use are one host name.
func (s *endpointSet) isHostName(tls clientTLS) bool {
	if !s.facts.names {
		return false
	}
	list := grpcEndpoints(s, tls, nil)
	return len(list) == 1 && isHostName(list[0])
}
