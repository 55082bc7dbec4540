package meshtrace

import (
	"net/url"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// Backends is a list of at most one [Backend].
//
//confgen:openapi {"maxItems": 1}
type Backends []Backend

// Validate checks the length.
func (b Backends) Validate(at *diag.At) {
	if len(b) > 1 {
		at.Index(1).Errorf(diag.TooManyItems, "remove it", "only one backend is possible")
	}
}

// SetDefaults sets absent fields to the defaults of Kuma's schema.
func (z *Zipkin) SetDefaults() {
	conf.Default(&z.TraceID128Bit, false)
	conf.Default(&z.APIVersion, HTTPJSON)
	conf.Default(&z.SharedSpanContext, true)
}

// SetDefaults sets absent fields to the defaults of Kuma's schema.
func (d *Datadog) SetDefaults() { conf.Default(&d.SplitService, false) }

// Validate warns about an object that sets nothing.
func (s *Sampling) Validate(at *diag.At) { conf.WarnIdle(at, s) }

// Validate checks that the URL has a host and a port, and nothing after them.
func (d *Datadog) Validate(at *diag.At) {
	u, err := url.Parse(string(d.URL))
	if err != nil || u.Scheme != "http" || u.Port() == "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		at.Field("url").Errorf(diag.BadValue, "write http://host:port and nothing after it", "bad URL %q of a Datadog agent", string(d.URL))
	}
}

// Validate checks that the collector is given in exactly one way.
func (o *OpenTelemetry) Validate(at *diag.At) {
	conf.ValidateCollector(at, o.Endpoint, o.BackendRef)
}

// Validate checks that the tag has a name and one value.
func (t *Tag) Validate(at *diag.At) {
	if t.Name == "" {
		at.Field("name").Errorf(diag.EmptyValue, "", "must not be empty")
	}
	switch {
	case t.Literal == nil && t.Header == nil:
		at.Errorf(diag.MissingField, "give literal or header", "a tag must have a value")
	case t.Literal != nil && t.Header != nil:
		at.Field("header").Errorf(diag.BothPresent, "use one of them", "literal and header are both present")
	case t.Literal != nil && *t.Literal == "":
		at.Field("literal").Errorf(diag.EmptyValue, "remove the tag", "must not be empty")
	}
}

// Validate reports a type without its object, which a control plane of Kuma refuses.
func (b *Backend) Validate(at *diag.At) {
	if b.Type == OpenTelemetryBackend && b.OpenTelemetry == nil {
		at.Field("openTelemetry").If(diag.AsKuma).Errorf(diag.MissingField, "", "is required for type %q", b.Type)
	}
}
