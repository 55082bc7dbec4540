package resource

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// BackendRef is a reference of a dataplane to destinations, in an outbound or in
// reachableBackends (SPEC 17.3). It has a name or labels; beside labels a name is not read.
type BackendRef struct {
	Kind      TargetKind // MeshService, MeshExternalService or MeshMultiZoneService
	Name      string
	Namespace string // of a named destination; empty: the dataplane's namespace
	Labels    Tags   // all must be equal
	Port      uint32 // a port number; 0: all ports
}

// Equal reports whether both references have the same fields.
func (b *BackendRef) Equal(o *BackendRef) bool {
	return b == o || b != nil && o != nil && b.Kind == o.Kind && b.Name == o.Name && b.Namespace == o.Namespace &&
		b.Port == o.Port && slices.Equal(b.Labels, o.Labels)
}

// backendDoc is a [BackendRef] in a document.
type backendDoc struct {
	Kind      backendKind `json:"kind"`
	Name      string      `json:"name,omitzero"`
	Namespace string      `json:"namespace,omitzero"`
	//confgen:openapi {"maximum": 65535}
	Port   uint32 `json:"port,omitzero"`
	Labels Tags   `json:"labels,omitzero"`
}

//confgen:openapi {"enum": ["MeshExternalService", "MeshMultiZoneService", "MeshService"]}
type backendKind string

func (backendKind) Enum() []string { return DestinationTargets.Names() }

func (d *backendDoc) ref() BackendRef {
	kind, _ := ParseTargetKind(string(d.Kind)) // strict has reported an unknown word
	return BackendRef{kind, d.Name, d.Namespace, d.Labels, d.Port}
}

// validate reports the errors of a reference at its place.
func (b *BackendRef) validate(at *diag.At) {
	if !DestinationTargets.Has(b.Kind) {
		at.Field("kind").Errorf(diag.TargetNotAllowed, oneOf(DestinationTargets), "a backend cannot be %q", b.Kind)
	}
	switch {
	case b.Name == "" && len(b.Labels) == 0:
		at.Field("name").Errorf(diag.MissingField, "or give labels", "required field is missing")
	case b.Name != "" && len(b.Labels) > 0:
		at.Field("labels").If(diag.AsTargetRef).Errorf(diag.BothPresent, "use one of them", "a backend is found by name or by labels, not by both")
		at.Field("name").If(diag.AsKuma).Warnf(diag.NoEffectHere, "use one of them", "has no effect: a backend with labels is found by them alone")
	case b.Name == "" && b.Namespace != "":
		at.Field("namespace").Errorf(diag.FieldNotAllowed, "use the label "+NamespaceLabel, "belongs to a name")
	}
	if b.Port != 0 {
		conf.ValidatePort(at, "port", b.Port)
	}
	validateText(at, "name", b.Name)
	validateText(at, "namespace", b.Namespace)
	validateSorted(at, "labels", b.Labels)
}
