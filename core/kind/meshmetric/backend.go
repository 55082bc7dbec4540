package meshmetric

import (
	"iter"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Backend is a destination to which metrics are sent.
type Backend struct {
	Type          backendType    `json:"type" policyMerge:"discriminator"`
	Prometheus    *Prometheus    `json:"prometheus,omitzero"`
	OpenTelemetry *OpenTelemetry `json:"openTelemetry,omitzero"`
}

// backendType is the name of the arm of a [Backend].
type backendType string

// The types of backends.
const (
	PrometheusBackend    backendType = "Prometheus"
	OpenTelemetryBackend backendType = "OpenTelemetry"
)

// Enum returns the allowed values.
func (backendType) Enum() []string { return conf.Words(PrometheusBackend, OpenTelemetryBackend) }

// Prometheus serves metrics to be scraped.
type Prometheus struct {
	// ClientID limits the backend to the Prometheus server with this id; nil means every
	// server.
	ClientID *string `json:"clientId,omitzero"`
	// Port is 5670 by default, Path /metrics.
	Port *conf.Port     `json:"port,omitzero"`
	Path *conf.Path     `json:"path,omitzero"`
	TLS  *PrometheusTLS `json:"tls,omitzero"`
}

// PrometheusTLS determines how the endpoint authenticates the clients that scrape it.
type PrometheusTLS struct {
	// Mode is Disabled by default.
	Mode *TLSMode `json:"mode,omitzero"`
}

// TLSMode is the source of the certificate.
type TLSMode string

// The modes: no TLS, files of the proxy, and the certificates of the mesh.
const (
	TLSDisabled          TLSMode = "Disabled"
	TLSProvided          TLSMode = "ProvidedTLS"
	TLSActiveMTLSBackend TLSMode = "ActiveMTLSBackend"
)

// Enum returns the allowed values.
func (TLSMode) Enum() []string { return conf.Words(TLSDisabled, TLSProvided, TLSActiveMTLSBackend) }

// OpenTelemetry sends metrics to a collector, given by Endpoint or BackendRef.
//
//confgen:openapi {"oneOf": [{"required": ["endpoint"]}, {"required": ["backendRef"]}]}
type OpenTelemetry struct {
	Endpoint   *conf.Endpoint     `json:"endpoint,omitzero"`
	BackendRef *conf.CollectorRef `json:"backendRef,omitzero"`
	// RefreshInterval is the time between two transmissions; nil means 30s.
	RefreshInterval *conf.PositiveDuration `json:"refreshInterval,omitzero"`
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
