package resource

import (
	"cmp"

	"github.com/meshmatch/meshmatch/core/internal/specs"
)

// MeshService is a service that dataplanes of one zone provide.
type MeshService struct {
	ObjectOf[specs.MeshService]
	DestinationStatus
}

// Ports returns the ports in the order of the document.
func (s *MeshService) Ports() []DestinationPort { return destinationPorts(s.Spec.Ports) }

func destinationPorts(ports []specs.ServicePort) []DestinationPort {
	out := make([]DestinationPort, len(ports))
	for i := range ports {
		out[i] = DestinationPort{ports[i].Port, ports[i].Name, cmp.Or(ports[i].AppProtocol, defaultProtocol)}
	}
	return out
}
