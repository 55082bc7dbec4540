package resource

import (
	"cmp"

	"github.com/meshmatch/meshmatch/core/internal/specs"
)

// MeshExternalService is a service outside the mesh.
type MeshExternalService struct {
	ObjectOf[specs.MeshExternalService]
	DestinationStatus
}

// Ports returns the only port, which has no name: references to a
// MeshExternalService have no section.
func (s *MeshExternalService) Ports() []DestinationPort {
	return []DestinationPort{{Number: s.Spec.Match.Port, Protocol: cmp.Or(string(s.Spec.Match.Protocol), defaultProtocol)}}
}

// UsesTLS reports whether proxies connect to the service by TLS.
func (s *MeshExternalService) UsesTLS() bool { return s.Spec.TLS != nil && s.Spec.TLS.Enabled }

// Verification returns how proxies verify the certificate of a service that uses TLS; it is
// not nil. The caller must not change it.
func (s *MeshExternalService) Verification() *specs.Verification {
	if s.Spec.TLS.Verification == nil {
		return new(specs.Verification)
	}
	return s.Spec.TLS.Verification
}
