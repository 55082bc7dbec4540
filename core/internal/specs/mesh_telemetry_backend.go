package specs

import (
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// MeshOpenTelemetryBackend is the spec of a MeshOpenTelemetryBackend. An
// empty spec is a collector on the node of the proxy.
//
//confgen:schema
type MeshOpenTelemetryBackend struct {
	Endpoint *CollectorEndpoint `json:"endpoint,omitzero"`
	Protocol CollectorProtocol  `json:"protocol,omitzero"` // empty: grpc
	Env      *CollectorEnv      `json:"env,omitzero"`
}

// Validate checks that only HTTP has a path.
func (s *MeshOpenTelemetryBackend) Validate(at *diag.At) {
	if s.Endpoint == nil || s.Endpoint.Path == "" {
		return
	}
	path := at.Field("endpoint").Field("path")
	switch {
	case s.Protocol != "http":
		path.Errorf(diag.FieldNotAllowed, "use protocol http", "does not belong to protocol grpc")
	case !strings.HasPrefix(s.Endpoint.Path, "/"):
		path.Errorf(diag.BadPath, "", "must be a path that starts with /")
	case strings.ContainsAny(s.Endpoint.Path, "?#"):
		path.Errorf(diag.BadPath, "", "a path must not contain ? or #")
	}
}

// CollectorEndpoint is the address of a collector.
type CollectorEndpoint struct {
	Address *string `json:"address,omitzero"` // nil: the address of the node
	//confgen:openapi {"maximum": 65535}
	Port *uint32 `json:"port,omitzero"` // nil: 4317
	Path string  `json:"path,omitzero"` // for HTTP
}

// Validate checks the address and the port.
func (e *CollectorEndpoint) Validate(at *diag.At) {
	if e.Address != nil {
		validateHost(at.Field("address"), *e.Address)
	}
	if e.Port != nil {
		conf.ValidatePort(at, "port", *e.Port)
	}
}

// CollectorProtocol is the protocol of a collector.
type CollectorProtocol string

// Enum returns the allowed values.
func (CollectorProtocol) Enum() []string { return []string{"grpc", "http"} }

// CollectorEnv determines whether the environment of the proxy may change the
// collector.
type CollectorEnv struct {
	Mode                 CollectorEnvMode       `json:"mode,omitzero"`                 // empty: Optional
	Precedence           CollectorEnvPrecedence `json:"precedence,omitzero"`           // empty: EnvFirst
	AllowSignalOverrides *bool                  `json:"allowSignalOverrides,omitzero"` // nil: true
}

// CollectorEnvMode determines whether the environment is used.
type CollectorEnvMode string

// Enum returns the allowed values.
func (CollectorEnvMode) Enum() []string { return []string{"Disabled", "Optional", "Required"} }

// CollectorEnvPrecedence determines whether the environment or the resource
// overrides the other.
type CollectorEnvPrecedence string

// Enum returns the allowed values.
func (CollectorEnvPrecedence) Enum() []string { return []string{"ExplicitFirst", "EnvFirst"} }
