package meshaccesslog

import (
	"iter"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/resource"
)

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen

// Conf contains the settings of a MeshAccessLog.
//
//confgen:conf hash schema
//confgen:openapi {"minProperties": 1}
type Conf struct {
	// Backends are the destinations to which lines are written; an empty list
	// disables logging.
	Backends []Backend `json:"backends,omitzero"`
}

// Backend is a destination to which lines are written.
type Backend struct {
	Type          backendType    `json:"type" policyMerge:"discriminator"`
	TCP           *TCP           `json:"tcp,omitzero"`
	File          *File          `json:"file,omitzero"`
	OpenTelemetry *OpenTelemetry `json:"openTelemetry,omitzero"`
}

// backendType is the name of the arm of a [Backend].
type backendType string

// The types of backends.
const (
	TCPBackend           backendType = "Tcp"
	FileBackend          backendType = "File"
	OpenTelemetryBackend backendType = "OpenTelemetry"
)

// Enum returns the allowed values.
func (backendType) Enum() []string { return conf.Words(TCPBackend, FileBackend, OpenTelemetryBackend) }

// TCP writes lines to a connection.
type TCP struct {
	Format  *Format      `json:"format,omitzero"`
	Address conf.Address `json:"address"`
}

// File writes lines to a file on the machine of the proxy.
type File struct {
	Format *Format   `json:"format,omitzero"`
	Path   conf.Path `json:"path"`
}

// OpenTelemetry sends lines to a collector, given by Endpoint or BackendRef.
//
//confgen:openapi {"oneOf": [{"required": ["endpoint"]}, {"required": ["backendRef"]}]}
type OpenTelemetry struct {
	Attributes []Attribute `json:"attributes,omitzero"`
	// Body is an arbitrary value; its texts may contain Envoy's command
	// operators.
	Body       *conf.JSON         `json:"body,omitzero"`
	Endpoint   *conf.Endpoint     `json:"endpoint,omitzero"`
	BackendRef *conf.CollectorRef `json:"backendRef,omitzero"`
}

// Attribute is an attribute of a line; the value may contain Envoy's command operators.
//
//confgen:openapi {"allOf": [{"properties": {"key": {"pattern": "^[a-z][a-z0-9]*([._][a-z0-9]+)*$", "not": {"pattern": "^otel\\."}}}}]}
type Attribute struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Format is the format of a line; nil means Envoy's default format.
//
//confgen:openapi {"allOf": [{"properties": {"plain": {"minLength": 1}, "json": {"minItems": 1}}}]}
type Format struct {
	Type  formatType `json:"type" policyMerge:"discriminator"`
	Plain *string    `json:"plain,omitzero"`
	JSON  []Field    `json:"json,omitzero"`
	// OmitEmptyValues omits operators without a value; if it is nil or false,
	// they are written as "-" or null.
	OmitEmptyValues *bool `json:"omitEmptyValues,omitzero"`
}

// formatType is the name of the arm of a [Format].
type formatType string

// The types of formats.
const (
	PlainFormat formatType = "Plain"
	JSONFormat  formatType = "Json"
)

// Enum returns the allowed values.
func (formatType) Enum() []string { return conf.Words(PlainFormat, JSONFormat) }

// Field is a field of a line in JSON.
//
//confgen:openapi {"allOf": [{"properties": {"key": {"minLength": 1}, "value": {"minLength": 1}}}]}
type Field struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// InKuma3 leaves out the endpoints of collectors: Kuma 3 only finds them by reference.
func (c *Conf) InKuma3() (resource.Conf, []string) {
	backends, removed := conf.WithoutEndpoints(c.Backends,
		func(b *Backend) **OpenTelemetry { return &b.OpenTelemetry }, func(o *OpenTelemetry) **conf.Endpoint { return &o.Endpoint })
	if removed == nil {
		return c, nil
	}
	next := *c
	next.Backends = backends
	return &next, removed
}

// CollectorRefs returns the references to collectors, see [conf.CollectorRefs].
func (c *Conf) CollectorRefs() iter.Seq2[string, *conf.CollectorRef] {
	return conf.CollectorRefsOf(c.Backends,
		func(b *Backend) *OpenTelemetry { return b.OpenTelemetry }, func(o *OpenTelemetry) *conf.CollectorRef { return o.BackendRef })
}
