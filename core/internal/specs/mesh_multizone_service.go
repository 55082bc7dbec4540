package specs

import "github.com/meshmatch/meshmatch/core/diag"

// MeshMultiZoneService is the spec of a MeshMultiZoneService.
//
//confgen:schema
//confgen:openapi {"allOf": [{"properties": {"ports": {"minItems": 1}, "selector": {"properties": {"meshService": {"required": ["matchLabels"], "properties": {"matchLabels": {"minProperties": 1}}}}}}}]}
type MeshMultiZoneService struct {
	Selector MultiZoneSelector `json:"selector"`
	Ports    []ServicePort     `json:"ports"`
}

// MultiZoneSelector selects MeshServices by their labels.
type MultiZoneSelector struct {
	MeshService LabelSelector `json:"meshService"`
}

// Validate checks that there are labels and ports.
func (s *MeshMultiZoneService) Validate(at *diag.At) {
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
