package specs

import "github.com/meshmatch/meshmatch/core/conf"

// Mesh is the part of a Mesh document that results depend on (SPEC 17.2).
type Mesh struct {
	MTLS         *MeshMTLS       `json:"mtls,omitzero"`
	MeshServices *MeshServices   `json:"meshServices,omitzero"`
	Routing      *MeshRouting    `json:"routing,omitzero"`
	Networking   *MeshNetworking `json:"networking,omitzero"`
	// SkipCreatingInitialPolicies are the kinds without default policies; * means
	// all kinds.
	SkipCreatingInitialPolicies []string `json:"skipCreatingInitialPolicies,omitzero"`
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

// MeshRouting configures how traffic leaves a zone.
type MeshRouting struct {
	LocalityAwareLoadBalancing             bool `json:"localityAwareLoadBalancing,omitzero"`
	ZoneEgress                             bool `json:"zoneEgress,omitzero"`
	DefaultForbidMeshExternalServiceAccess bool `json:"defaultForbidMeshExternalServiceAccess,omitzero"`
}

// MeshNetworking configures connections to addresses outside the mesh.
type MeshNetworking struct {
	Outbound *MeshOutbound `json:"outbound,omitzero"`
}

// MeshOutbound configures connections to addresses that are not outbounds.
type MeshOutbound struct {
	Passthrough *bool `json:"passthrough,omitzero"` // nil: true
}
