package semantics

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/resource"
)

// JoinsService reports whether a MeshService of the same mesh belongs to a
// MeshMultiZoneService (SPEC 17.4). In Kuma its status, if it has one, lists its MeshServices.
func (s Semantics) JoinsService(m *resource.MeshMultiZoneService, service *resource.MeshService) bool {
	listed := m.State().MeshServices
	if len(listed) == 0 || !s.isKuma() {
		return service.HasLabels(m.Spec.Selector.MeshService.MatchLabels)
	}
	return slices.ContainsFunc(listed, func(name resource.MeshServiceName) bool {
		return name.Name == service.DisplayName() && name.Namespace == service.HomeNamespace() && name.Zone == service.Zone()
	})
}

// JoinedPort returns the port of a MeshService that serves a port of its
// MeshMultiZoneService, or nil. Kuma 2 does not match ports by name.
func (s Semantics) JoinedPort(port resource.DestinationPort, service *resource.MeshService) *specs.ServicePort {
	byNumber := -1
	for i := range service.Spec.Ports {
		p := &service.Spec.Ports[i]
		if s != Kuma && port.Name != "" && p.Name == port.Name {
			return p
		}
		if p.Port == port.Number {
			byNumber = i
		}
	}
	if byNumber < 0 {
		return nil
	}
	return &service.Spec.Ports[byNumber]
}

// JoinsElsewhere reports whether clients of other zones reach a MeshService by a
// MeshMultiZoneService.
func (s Semantics) JoinsElsewhere(service *resource.MeshService) bool {
	return !s.isKuma() || service.Spec.State == specs.Available
}

// MultiZoneTLS returns to which dataplanes of a MeshMultiZoneService proxies connect
// by TLS.
func (s Semantics) MultiZoneTLS() ServiceTLS {
	if s.isKuma() {
		return AlwaysTLS
	}
	return TLSByEndpoint
}
