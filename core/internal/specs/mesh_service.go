package specs

import (
	"strconv"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// MeshService is the spec of a MeshService.
//
//confgen:schema
type MeshService struct {
	// State reports whether a dataplane of the service is healthy; empty:
	// Unavailable.
	State      ServiceState      `json:"state,omitzero"`
	Selector   ServiceSelector   `json:"selector,omitzero"`
	Ports      []ServicePort     `json:"ports,omitzero"`
	Identities []ServiceIdentity `json:"identities,omitzero"`
}

// Validate checks that no port occurs twice.
func (s *MeshService) Validate(at *diag.At) { validatePorts(at.Field("ports"), s.Ports) }

// ServiceState reports whether a service has a healthy endpoint.
type ServiceState string

// The states.
const (
	Available   ServiceState = "Available"
	Unavailable ServiceState = "Unavailable"
)

// Enum returns the allowed values.
func (ServiceState) Enum() []string { return conf.Words(Available, Unavailable) }

// ServiceSelector selects the dataplanes of a MeshService. At most one field is set;
// if none is set, it selects no dataplane.
//
//confgen:openapi {"maxProperties": 1}
type ServiceSelector struct {
	// DataplaneTags selects dataplanes with an inbound that has all of the tags.
	DataplaneTags   Tags           `json:"dataplaneTags,omitzero"`
	DataplaneRef    *DataplaneRef  `json:"dataplaneRef,omitzero"`
	DataplaneLabels *LabelSelector `json:"dataplaneLabels,omitzero"`
}

// DataplaneRef selects a dataplane by name. On Kubernetes the name is NAME.NAMESPACE.
type DataplaneRef struct {
	Name string `json:"name,omitzero"`
}

// Validate checks that at most one field is set.
func (s *ServiceSelector) Validate(at *diag.At) {
	onlyOne(at, "a selector", []presence{
		{"dataplaneTags", s.DataplaneTags != nil}, {"dataplaneRef", s.DataplaneRef != nil}, {"dataplaneLabels", s.DataplaneLabels != nil},
	})
	selected := at.Field("dataplaneTags")
	for _, tag := range s.DataplaneTags {
		conf.ValidateTag(selected, tag.Key, tag.Value)
	}
}

// ServicePort is a port of a MeshService or a MeshMultiZoneService.
type ServicePort struct {
	//confgen:openapi {"minimum": 1, "maximum": 65535}
	Port uint32 `json:"port"`
	Name string `json:"name,omitzero"`
	// TargetPort is the port of the inbounds; nil: Port. The ports of a
	// MeshMultiZoneService have no TargetPort.
	TargetPort  *TargetPort `json:"targetPort,omitzero"`
	AppProtocol string      `json:"appProtocol,omitzero"` // empty: tcp
}

// Validate checks the number.
func (p *ServicePort) Validate(at *diag.At) { conf.ValidatePort(at, "port", p.Port) }

// Target returns the port or the name of the inbounds that serve the port.
func (p *ServicePort) Target() TargetPort {
	if p.TargetPort == nil {
		return TargetPort{Number: p.Port}
	}
	return *p.TargetPort
}

// TargetPort is an inbound's port, or its name if the number is 0.
//
//confgen:openapi {"x-kubernetes-int-or-string": true, "minimum": 1, "maximum": 65535}
type TargetPort struct {
	Number uint32
	Name   string
}

// DecodeAt accepts a port, or a name.
func (t *TargetPort) DecodeAt(in *strict.Value) {
	if in.Kind() == strict.Int {
		strict.Decode(in, &t.Number)
		return
	}
	strict.Decode(in, &t.Name)
}

// Validate checks a port, or that a name is not empty.
func (t *TargetPort) Validate(at *diag.At) {
	switch {
	case t.Name == "":
		conf.Port(t.Number).Validate(at)
	case t.Number != 0:
		at.Errorf(diag.DuplicateEntry, "use one of them", "is a port and a name")
	}
}

// MarshalJSON prints the port or the name.
func (t TargetPort) MarshalJSON() ([]byte, error) {
	if t.Name != "" {
		return conf.Marshal(t.Name)
	}
	return []byte(strconv.FormatUint(uint64(t.Number), 10)), nil
}

// ServiceIdentity is an identity that the service's certificates may have.
type ServiceIdentity struct {
	Type  ServiceIdentityType `json:"type"`
	Value string              `json:"value"`
}

// ServiceIdentityType is the form of the value of a [ServiceIdentity].
type ServiceIdentityType string

// The types: a SPIFFE ID, or the value of the tag kuma.io/service.
const (
	SpiffeIDIdentity   ServiceIdentityType = "SpiffeID"
	ServiceTagIdentity ServiceIdentityType = "ServiceTag"
)

// Enum returns the allowed values.
func (ServiceIdentityType) Enum() []string { return conf.Words(ServiceTagIdentity, SpiffeIDIdentity) }

// validatePorts checks that no two ports have the same number or the same name.
func validatePorts(at *diag.At, ports []ServicePort) {
	numbers, names := map[uint32]bool{}, map[string]bool{}
	for i := range ports {
		p := &ports[i]
		if numbers[p.Port] {
			at.Index(i).Field("port").Errorf(diag.DuplicateEntry, "", "duplicate port %d", p.Port)
		}
		if p.Name != "" && names[p.Name] {
			at.Index(i).Field("name").Errorf(diag.DuplicateEntry, "", "duplicate name %q", p.Name)
		}
		numbers[p.Port], names[p.Name] = true, true
	}
}
