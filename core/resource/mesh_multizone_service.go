package resource

import "github.com/meshmatch/meshmatch/core/internal/specs"

// MeshMultiZoneService combines MeshServices of several zones.
type MeshMultiZoneService struct {
	ObjectOf[specs.MeshMultiZoneService]
	DestinationStatus
}

// Ports returns the ports in the order of the document.
func (s *MeshMultiZoneService) Ports() []DestinationPort { return destinationPorts(s.Spec.Ports) }
