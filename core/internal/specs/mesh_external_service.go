package specs

import (
	"net/netip"
	"regexp"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// MeshExternalService is the spec of a MeshExternalService.
//
//confgen:schema
type MeshExternalService struct {
	Match     ExternalMatch      `json:"match"`
	Endpoints []ExternalEndpoint `json:"endpoints,omitzero"`
	TLS       *ExternalTLS       `json:"tls,omitzero"`
	// Extension describes the endpoints in a form that Kuma does not define.
	Extension *Extension `json:"extension,omitzero"`
}

// ExternalMatch is the port to which workloads connect.
type ExternalMatch struct {
	Type ExternalMatchType `json:"type,omitzero"` // empty: HostnameGenerator
	//confgen:openapi {"minimum": 1, "maximum": 65535}
	Port     uint32           `json:"port"`
	Protocol ExternalProtocol `json:"protocol,omitzero"` // empty: tcp
}

// Validate checks the port.
func (m *ExternalMatch) Validate(at *diag.At) { conf.ValidatePort(at, "port", m.Port) }

// ExternalMatchType determines how workloads find the address.
type ExternalMatchType string

// Enum returns the only allowed value.
func (ExternalMatchType) Enum() []string { return []string{"HostnameGenerator"} }

// ExternalProtocol is the protocol of an external service.
type ExternalProtocol string

// Enum returns the allowed values.
func (ExternalProtocol) Enum() []string { return []string{"tcp", "http", "http2", "grpc"} }

// ExternalEndpoint is an address of an external service.
type ExternalEndpoint struct {
	Address string `json:"address"` // an IP address or a host name
	//confgen:openapi {"minimum": 1, "maximum": 65535}
	Port uint32 `json:"port"`
	// Priority is the priority in Envoy: 0 is used first.
	//
	//confgen:openapi {"maximum": 128}
	Priority uint32 `json:"priority,omitzero"`
}

// maxPriority is the largest priority in Envoy.
const maxPriority = 128

// Validate checks the parts.
func (e *ExternalEndpoint) Validate(at *diag.At) {
	validateHost(at.Field("address"), e.Address)
	conf.ValidatePort(at, "port", e.Port)
	if e.Priority > maxPriority {
		at.Field("priority").Errorf(diag.OutOfRange, "", "must be from 0 to %d, not %d", maxPriority, e.Priority)
	}
}

// Extension is a configuration in a form that Kuma does not define.
type Extension struct {
	Type   string `json:"type"`
	Config any    `json:"config,omitzero"`
}

// Validate checks that there is a type.
func (e *Extension) Validate(at *diag.At) {
	if e.Type == "" {
		at.Field("type").Errorf(diag.EmptyValue, "", "must not be empty")
	}
}

var hostName = regexp.MustCompile(`^([A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?\.)*[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?\.?$`)

// validateHost checks an IP address or a host name.
func validateHost(at *diag.At, host string) {
	if _, err := netip.ParseAddr(host); err != nil && (!hostName.MatchString(host) || len(host) > 253) {
		at.Errorf(diag.BadValue, "write an IP address or the name of a host", "bad address %q", host)
	}
}

// ExternalTLS configures TLS to an external service.
type ExternalTLS struct {
	Enabled            bool          `json:"enabled,omitzero"`
	AllowRenegotiation bool          `json:"allowRenegotiation,omitzero"`
	Version            *TLSVersions  `json:"version,omitzero"`
	Verification       *Verification `json:"verification,omitzero"`
}

// TLSVersions is a range of versions of TLS.
type TLSVersions struct {
	Min TLSVersion `json:"min,omitzero"` // empty: TLSAuto
	Max TLSVersion `json:"max,omitzero"` // empty: TLSAuto
}

// Validate checks that the range is not empty.
func (v *TLSVersions) Validate(at *diag.At) {
	if v.Min.numbered() && v.Max.numbered() && v.Min > v.Max {
		at.Field("min").Errorf(diag.OutOfRange, "", "must not be above max, %s", v.Max)
	}
}

// TLSVersion is a version of TLS.
type TLSVersion string

// The versions. TLSAuto leaves the choice to the proxy.
const (
	TLSAuto TLSVersion = "TLSAuto"
	TLS10   TLSVersion = "TLS10"
	TLS11   TLSVersion = "TLS11"
	TLS12   TLSVersion = "TLS12"
	TLS13   TLSVersion = "TLS13"
)

// Enum returns the allowed values.
func (TLSVersion) Enum() []string { return conf.Words(TLSAuto, TLS10, TLS11, TLS12, TLS13) }

func (v TLSVersion) numbered() bool { return v != "" && v != TLSAuto }
