package resource

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/strict"
)

// MeshSpec is the part of a Mesh document that results depend on (SPEC 17.2).
type MeshSpec struct {
	MTLS         *MeshMTLS       `json:"mtls,omitzero"`
	MeshServices *MeshServices   `json:"meshServices,omitzero"`
	Routing      *MeshRouting    `json:"routing,omitzero"`
	Networking   *MeshNetworking `json:"networking,omitzero"`
	// SkipCreatingInitialPolicies are the kinds without default policies; * means
	// all kinds.
	SkipCreatingInitialPolicies []string `json:"skipCreatingInitialPolicies,omitzero"`
}

// meshDoc is a Mesh document with the fields that are read but not used.
//
//confgen:schema
type meshDoc struct {
	MTLS         *MeshMTLS       `json:"mtls,omitzero"`
	MeshServices *MeshServices   `json:"meshServices,omitzero"`
	Routing      *MeshRouting    `json:"routing,omitzero"`
	Networking   *MeshNetworking `json:"networking,omitzero"`

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
func (d *decoder) mesh(b *body) MeshSpec {
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
	return MeshSpec{doc.MTLS, doc.MeshServices, doc.Routing, doc.Networking, doc.SkipCreatingInitialPolicies}
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

// MeshMTLS contains the certificate authorities of Kuma 2.
type MeshMTLS struct {
	EnabledBackend string        `json:"enabledBackend,omitzero"`
	SkipValidation bool          `json:"skipValidation,omitzero"`
	Backends       []MTLSBackend `json:"backends,omitzero"`
}

// Enabled returns the backend that is in use, or nil.
func (m *MeshMTLS) Enabled() *MTLSBackend {
	if m == nil || m.EnabledBackend == "" {
		return nil
	}
	for i := range m.Backends {
		if m.Backends[i].Name == m.EnabledBackend {
			return &m.Backends[i]
		}
	}
	return nil
}

// MTLSBackend is a certificate authority.
type MTLSBackend struct {
	Name      string   `json:"name"`
	Type      string   `json:"type"`
	Mode      MTLSMode `json:"mode,omitzero"` // empty: STRICT
	Conf      any      `json:"conf,omitzero"`
	DPCert    any      `json:"dpCert,omitzero"`
	RootChain any      `json:"rootChain,omitzero"`
}

// MTLSMode determines whether inbounds accept plain text.
type MTLSMode string

// The modes.
const (
	StrictMTLS     MTLSMode = "STRICT"
	PermissiveMTLS MTLSMode = "PERMISSIVE"
)

// Enum returns the allowed values.
func (MTLSMode) Enum() []string { return conf.Words(StrictMTLS, PermissiveMTLS) }

// MeshServices configures which services of the mesh have MeshServices.
type MeshServices struct {
	Mode MeshServicesMode `json:"mode,omitzero"` // empty: Disabled
}

// MeshServicesMode determines which outbounds a transparent proxy has.
type MeshServicesMode string

// The modes. With Disabled, outbounds come from service tags only. With Everywhere
// and ReachableBackends they also come from destinations: from all, or only from
// the ones in reachableBackends. With Exclusive they come from destinations only.
const (
	MeshServicesDisabled    MeshServicesMode = "Disabled"
	MeshServicesEverywhere  MeshServicesMode = "Everywhere"
	MeshServicesByReference MeshServicesMode = "ReachableBackends"
	MeshServicesExclusive   MeshServicesMode = "Exclusive"
)

// Enum returns the allowed values.
func (MeshServicesMode) Enum() []string {
	return conf.Words(MeshServicesDisabled, MeshServicesEverywhere, MeshServicesByReference, MeshServicesExclusive)
}

// ServicesMode returns the mode of the mesh; m may be nil.
func (m *Mesh) ServicesMode() MeshServicesMode {
	if m == nil || m.Spec.MeshServices == nil || m.Spec.MeshServices.Mode == "" {
		return MeshServicesDisabled
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

// MeshRouting configures how traffic leaves a zone.
type MeshRouting struct {
	LocalityAwareLoadBalancing             bool `json:"localityAwareLoadBalancing,omitzero"`
	ZoneEgress                             bool `json:"zoneEgress,omitzero"`
	DefaultForbidMeshExternalServiceAccess bool `json:"defaultForbidMeshExternalServiceAccess,omitzero"`
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

// MeshNetworking configures connections to addresses outside the mesh.
type MeshNetworking struct {
	Outbound *MeshOutbound `json:"outbound,omitzero"`
}

// MeshOutbound configures connections to addresses that are not outbounds.
type MeshOutbound struct {
	Passthrough *bool `json:"passthrough,omitzero"` // nil: true
}
