package meshmetric

import (
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// Validate checks that a regular expression compiles.
func (s *Selector) Validate(at *diag.At) {
	if s.Type == RegexSelector {
		conf.ValidateRegex(at.Field("match"), s.Match)
	}
}

// Validate checks that an address, if present, is not empty.
func (a *Application) Validate(at *diag.At) {
	if a.Address != nil && *a.Address == "" {
		at.Field("address").Errorf(diag.EmptyValue, "leave it out for the inbound's address", "must not be empty")
	}
}

// Validate checks that the collector is given in exactly one way.
func (o *OpenTelemetry) Validate(at *diag.At) {
	conf.ValidateCollector(at, o.Endpoint, o.BackendRef)
	conf.ValidateEndpointPort(at.Field("endpoint"), o.Endpoint)
}

// The defaults of Kuma's schema.
const (
	DefaultPort            conf.Port = 5670
	DefaultPath            conf.Path = "/metrics"
	defaultApplicationPath           = "/metrics/prometheus"
)

// SetDefaults sets port and path.
func (p *Prometheus) SetDefaults() {
	conf.Default(&p.Port, DefaultPort)
	conf.Default(&p.Path, DefaultPath)
}

// SetDefaults sets the mode.
func (t *PrometheusTLS) SetDefaults() { conf.Default(&t.Mode, TLSDisabled) }

// SetDefaults sets the path.
func (a *Application) SetDefaults() { conf.Default(&a.Path, defaultApplicationPath) }

// Validate warns about an object that sets nothing.
func (s *Sidecar) Validate(at *diag.At) { conf.WarnIdle(at, s) }

// Validate warns about an object that sets nothing.
func (p *Profiles) Validate(at *diag.At) { conf.WarnIdle(at, p) }

// Validate reports a type without its object, which a control plane of Kuma refuses.
func (b *Backend) Validate(at *diag.At) {
	switch {
	case b.Type == PrometheusBackend && b.Prometheus == nil:
		at.Field("prometheus").If(diag.AsKuma).Errorf(diag.MissingField, "", "is required for type %q", b.Type)
	case b.Type == OpenTelemetryBackend && b.OpenTelemetry == nil:
		at.Field("openTelemetry").If(diag.AsKuma).Errorf(diag.MissingField, "", "is required for type %q", b.Type)
	}
}
