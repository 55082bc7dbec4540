package resource

import "github.com/meshmatch/meshmatch/core/diag"

// MeshMultiZoneService combines MeshServices of several zones.
type MeshMultiZoneService struct {
	ObjectOf[MeshMultiZoneServiceSpec]
	DestinationStatus
}

// Ports returns the ports in the order of the document.
func (s *MeshMultiZoneService) Ports() []DestinationPort { return destinationPorts(s.Spec.Ports) }

// MeshMultiZoneServiceSpec is the spec of a MeshMultiZoneService.
//
//confgen:schema
//confgen:openapi {"allOf": [{"properties": {"ports": {"minItems": 1}, "selector": {"properties": {"meshService": {"required": ["matchLabels"], "properties": {"matchLabels": {"minProperties": 1}}}}}}}]}
type MeshMultiZoneServiceSpec struct {
	Selector MultiZoneSelector `json:"selector"`
	Ports    []ServicePort     `json:"ports"`
}

// MultiZoneSelector selects MeshServices by their labels.
type MultiZoneSelector struct {
	MeshService LabelSelector `json:"meshService"`
}

// Validate checks that there are labels and ports.
func (s *MeshMultiZoneServiceSpec) Validate(at *diag.At) {
	if !s.Selector.MeshService.hasLabels() {
		at.Field("selector").Field("meshService").Field("matchLabels").Errorf(diag.EmptyValue, "give a label", "must not be empty")
	}
	ports := at.Field("ports")
	if len(s.Ports) == 0 {
		ports.Errorf(diag.EmptyValue, "give a port", "must not be empty")
	}
	for i := range s.Ports {
		if s.Ports[i].TargetPort != nil {
			ports.Index(i).Field("targetPort").Errorf(diag.FieldNotAllowed, "remove it: the MeshServices have it", "does not belong to a MeshMultiZoneService")
		}
	}
	validatePorts(ports, s.Ports)
}
