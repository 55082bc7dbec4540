package conf

import "github.com/meshmatch/meshmatch/core/diag"

// BackendKind is the kind of a destination to which a route sends requests.
type BackendKind string

// The kinds of backends.
const (
	BackendMeshService       BackendKind = "MeshService"
	BackendMeshServiceSubset BackendKind = "MeshServiceSubset"
)

// Enum returns the allowed values.
func (BackendKind) Enum() []string { return Words(BackendMeshService, BackendMeshServiceSubset) }

// BackendRef is a destination of a route. Weight is relative to the other
// destinations of the same rule; nil means 1 and zero means no requests.
type BackendRef struct {
	Kind   BackendKind       `json:"kind"`
	Name   string            `json:"name"`
	Tags   map[string]string `json:"tags,omitzero"`
	Weight *uint32           `json:"weight,omitzero"`
	Port   *Port             `json:"port,omitzero"`
}

// Share returns the weight, which is 1 if it is absent.
func (b *BackendRef) Share() uint32 {
	if b.Weight == nil {
		return 1
	}
	return *b.Weight
}

// Validate checks name and tags, and that there are tags if and only if the kind needs
// them.
func (b *BackendRef) Validate(at *diag.At) {
	ValidateService(at.Field("name"), b.Name)
	ValidateSelector(at.Field("tags"), b.Tags)
	switch {
	case b.Kind == BackendMeshService && b.Tags != nil:
		at.Field("tags").Errorf("remove them or use kind MeshServiceSubset", "do not belong to kind %s", b.Kind)
	case b.Kind == BackendMeshServiceSubset && len(b.Tags) == 0:
		at.Field("tags").Errorf("", "required field is missing for kind %s", b.Kind)
	}
}
