package conf

import "github.com/meshmatch/meshmatch/core/diag"

// BackendKind is the kind of a destination to which a route sends requests.
type BackendKind string

// The kinds of backends.
const (
	BackendMeshService          BackendKind = "MeshService"
	BackendMeshServiceSubset    BackendKind = "MeshServiceSubset"
	BackendMeshExternalService  BackendKind = "MeshExternalService"
	BackendMeshMultiZoneService BackendKind = "MeshMultiZoneService"
)

// Enum returns the allowed values.
func (BackendKind) Enum() []string {
	return Words(BackendMeshService, BackendMeshServiceSubset, BackendMeshExternalService, BackendMeshMultiZoneService)
}

// BackendRef is a destination of a route, by name or by labels. Weight is relative to
// the other destinations of the same rule; nil means 1 and zero means no requests.
//
//confgen:openapi {"allOf": [{"anyOf": [{"not": {"properties": {"kind": {"enum": ["MeshService", "MeshExternalService", "MeshMultiZoneService"]}}}}, {"not": {"required": ["tags"]}}]}, {"anyOf": [{"not": {"properties": {"kind": {"enum": ["MeshServiceSubset"]}}}}, {"required": ["tags"]}]}, {"anyOf": [{"not": {"properties": {"kind": {"enum": ["MeshServiceSubset"]}}}}, {"not": {"required": ["labels"]}}]}, {"anyOf": [{"not": {"properties": {"kind": {"enum": ["MeshServiceSubset"]}}}}, {"not": {"required": ["namespace"]}}]}, {"anyOf": [{"required": ["name"]}, {"required": ["labels"]}]}]}
type BackendRef struct {
	Kind      BackendKind       `json:"kind"`
	Name      string            `json:"name,omitzero"`
	Namespace string            `json:"namespace,omitzero"`
	Labels    map[string]string `json:"labels,omitzero"`
	Tags      map[string]string `json:"tags,omitzero"`
	Weight    *uint32           `json:"weight,omitzero"`
	Port      *Port             `json:"port,omitzero"`
}

// Share returns the weight, which is 1 if it is absent.
func (b *BackendRef) Share() uint32 {
	if b.Weight == nil {
		return 1
	}
	return *b.Weight
}

// UnresolvedBackend is the name of a backend that a control plane of Kuma could not resolve,
// because the Service of an HTTPRoute does not exist. It finds nothing (SPEC 17.3).
const UnresolvedBackend = "kuma.io/unresolved-backend"

// RefersToDestination reports whether the backend can only refer to a resource
// (SPEC 17.3), and not to a service by its tag.
func (b *BackendRef) RefersToDestination() bool {
	switch b.Kind {
	case BackendMeshExternalService, BackendMeshMultiZoneService:
		return true
	}
	return b.Namespace != "" || b.Labels != nil || b.Name == UnresolvedBackend
}

// Validate checks name, labels and tags, and whether the kind allows them.
func (b *BackendRef) Validate(at *diag.At) {
	ValidateSelector(at.Field("tags"), b.Tags)
	if b.Kind == BackendMeshMultiZoneService && b.Port == nil {
		at.Field("port").If(diag.AsKuma).Errorf(diag.MissingField, "", "required field is missing for kind %s", b.Kind)
	}
	subset := b.Kind == BackendMeshServiceSubset
	switch {
	case !subset && b.Tags != nil:
		at.Field("tags").Errorf(diag.FieldNotAllowed, "remove them or use kind MeshServiceSubset", "do not belong to kind %s", b.Kind)
	case subset && len(b.Tags) == 0:
		at.Field("tags").Errorf(diag.MissingField, "", "required field is missing for kind %s", b.Kind)
	}
	switch {
	case subset && b.Labels != nil:
		at.Field("labels").Errorf(diag.FieldNotAllowed, "remove them or use kind MeshService", "do not belong to kind %s", b.Kind)
	case subset && b.Namespace != "":
		at.Field("namespace").Errorf(diag.FieldNotAllowed, "remove it or use kind MeshService", "does not belong to kind %s", b.Kind)
	case len(b.Labels) == 0 && b.Name == "" && !subset:
		at.Field("name").Errorf(diag.MissingField, "or give labels", "required field is missing")
	case b.Name == UnresolvedBackend:
		ValidateService(at.Field("name").If(diag.AsTargetRef), b.Name)
	case len(b.Labels) == 0:
		ValidateService(at.Field("name"), b.Name)
	case b.Name != "":
		at.Field("labels").Errorf(diag.BothPresent, "use one of them", "a backend is found by name or by labels, not by both")
	case b.Namespace != "":
		at.Field("namespace").Errorf(diag.FieldNotAllowed, "use the label k8s.kuma.io/namespace", "belongs to a name")
	}
}
