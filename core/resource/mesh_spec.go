package resource

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// meshDoc is a Mesh document with the fields that are read but not used.
//
//confgen:schema
type meshDoc struct {
	MTLS         *specs.MeshMTLS       `json:"mtls,omitzero"`
	MeshServices *specs.MeshServices   `json:"meshServices,omitzero"`
	Routing      *specs.MeshRouting    `json:"routing,omitzero"`
	Networking   *specs.MeshNetworking `json:"networking,omitzero"`

	Constraints                 *strict.Value `json:"constraints,omitzero"`
	Logging                     *strict.Value `json:"logging,omitzero"`
	Metrics                     *strict.Value `json:"metrics,omitzero"`
	SkipCreatingInitialPolicies []string      `json:"skipCreatingInitialPolicies,omitzero"`
	Tracing                     *strict.Value `json:"tracing,omitzero"`
}

// meshFields are the fields of a Mesh document. In the universal spelling they
// are at the top level.
var meshFields = []string{"constraints", "logging", "meshServices", "metrics", "mtls", "networking", "routing", "skipCreatingInitialPolicies", "tracing"}

// mesh decodes the fields of a Mesh.
func (d *decoder) mesh(b *body) specs.Mesh {
	var doc meshDoc
	at := b.at
	switch {
	case b.top != nil:
		strict.DecodePart(b.top, &doc) // the other fields are decoded already
	case b.spec != nil:
		strict.Decode(b.spec, &doc)
		at = b.spec.At()
	}
	if b.top != nil && b.spec != nil {
		strict.Skim(b.spec)
	}
	for _, unused := range []*strict.Value{doc.Constraints, doc.Logging, doc.Metrics, doc.Tracing} {
		if unused != nil {
			strict.Skim(unused)
		}
	}
	d.unusedOfMesh(at, &doc)
	spec := specs.Mesh{
		MTLS: doc.MTLS, MeshServices: doc.MeshServices, Routing: doc.Routing, Networking: doc.Networking,
		SkipCreatingInitialPolicies: doc.SkipCreatingInitialPolicies,
	}
	validateMeshOfKuma(at, &spec)
	return spec
}

// validateMeshOfKuma reports what a control plane of Kuma 2 refuses. One of Kuma 3 does not read
// these fields.
func validateMeshOfKuma(at *diag.At, spec *specs.Mesh) {
	at = at.If(diag.AsKuma2)
	if m := spec.MTLS; m != nil && m.EnabledBackend != "" && m.Enabled() == nil {
		at.Field("mtls").Field("enabledBackend").Errorf(diag.UnknownValue, "name one of the backends", "there is no backend %q", m.EnabledBackend)
	}
	if spec.Routing != nil && spec.Routing.ZoneEgress && spec.MTLS.Enabled() == nil {
		at.Field("routing").Field("zoneEgress").Errorf(diag.FieldNotAllowed, "enable a backend of mtls, or remove it", "an egress needs mtls")
	}
}

// unusedOfMesh counts the fields with no effect on the configuration of proxies.
func (d *decoder) unusedOfMesh(at *diag.At, doc *meshDoc) {
	for _, unused := range []struct {
		field   string
		present bool
		effect  string
	}{
		{"constraints", doc.Constraints != nil, "has no effect here"},
		{"logging", doc.Logging != nil, "has no effect here; use MeshAccessLog"},
		{"metrics", doc.Metrics != nil, "has no effect here; use MeshMetric"},
		{"mtls", doc.MTLS != nil, "gives no certificates to proxies; use MeshIdentity"},
		{"routing", doc.Routing != nil, "has no effect here, except that external services may not be reached"},
		{"tracing", doc.Tracing != nil, "has no effect here; use MeshTrace"},
	} {
		if name := "Mesh." + unused.field; unused.present && !d.counted(name) {
			d.addUnused(at.Field(unused.field), unusedField{name: name, what: fmt.Sprintf("the field %s of a Mesh %s", unused.field, unused.effect)})
		}
	}
}

// ServicesMode returns the mode of the mesh; m may be nil.
func (m *Mesh) ServicesMode() specs.MeshServicesMode {
	if m == nil || m.Spec.MeshServices == nil || m.Spec.MeshServices.Mode == "" {
		return specs.MeshServicesDisabled
	}
	return m.Spec.MeshServices.Mode
}

// Passthrough reports whether workloads may connect to addresses that are not
// outbounds, if no MeshPassthrough decides; m may be nil.
func (m *Mesh) Passthrough() bool {
	if m == nil || m.Spec.Networking == nil || m.Spec.Networking.Outbound == nil {
		return true
	}
	passthrough := m.Spec.Networking.Outbound.Passthrough
	return passthrough == nil || *passthrough
}

// NoExternalServices returns the field for which proxies do not connect to external
// services themselves, "" if they do; m may be nil.
func (m *Mesh) NoExternalServices() (path string) {
	switch {
	case m == nil || m.Spec.Routing == nil:
	case m.Spec.Routing.ZoneEgress:
		return "routing.zoneEgress"
	case m.Spec.Routing.DefaultForbidMeshExternalServiceAccess:
		return "routing.defaultForbidMeshExternalServiceAccess"
	}
	return ""
}
