package meshtrace

import (
	"iter"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/resource"
)

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen

// Conf contains the settings of a MeshTrace for a proxy.
//
//confgen:conf schema
type Conf struct {
	// Backends has at most one element, because Envoy sends its spans to one
	// destination; an empty list disables tracing.
	Backends Backends  `json:"backends,omitzero"`
	Sampling *Sampling `json:"sampling,omitzero"`
	// Tags are added to every span.
	Tags []Tag `json:"tags,omitzero"`
}

// Backend is a destination to which spans are sent.
type Backend struct {
	Type          backendType    `json:"type" policyMerge:"discriminator"`
	Zipkin        *Zipkin        `json:"zipkin,omitzero"`
	Datadog       *Datadog       `json:"datadog,omitzero"`
	OpenTelemetry *OpenTelemetry `json:"openTelemetry,omitzero"`
}

// backendType is the name of the arm of a [Backend].
type backendType string

// The types of backends.
const (
	ZipkinBackend        backendType = "Zipkin"
	DatadogBackend       backendType = "Datadog"
	OpenTelemetryBackend backendType = "OpenTelemetry"
)

// Enum returns the allowed values.
func (backendType) Enum() []string {
	return conf.Words(ZipkinBackend, DatadogBackend, OpenTelemetryBackend)
}

// Zipkin is a Zipkin collector.
type Zipkin struct {
	URL conf.URL `json:"url"`
	// TraceID128Bit makes trace IDs 128 bits long; false by default.
	TraceID128Bit *bool `json:"traceId128bit,omitzero"`
	// APIVersion is httpJson by default.
	APIVersion *APIVersion `json:"apiVersion,omitzero"`
	// SharedSpanContext lets client and server share a span; true by default.
	SharedSpanContext *bool `json:"sharedSpanContext,omitzero"`
}

// APIVersion is the format in which spans are sent to Zipkin.
type APIVersion string

// The versions.
const (
	HTTPJSON   APIVersion = "httpJson"
	HTTPJSONV1 APIVersion = "httpJsonV1"
	HTTPProto  APIVersion = "httpProto"
)

// Enum returns the allowed values.
func (APIVersion) Enum() []string { return conf.Words(HTTPJSON, HTTPJSONV1, HTTPProto) }

// Datadog is a Datadog agent.
//
//confgen:openapi {"allOf": [{"properties": {"url": {"pattern": "^http://[^/?#@]+:[0-9]+$"}}}]}
type Datadog struct {
	// URL is http://host:port without a path or a query.
	URL conf.URL `json:"url"`
	// SplitService adds direction and destination to the service's name; false
	// by default.
	SplitService *bool `json:"splitService,omitzero"`
}

// OpenTelemetry is a collector, given by Endpoint or BackendRef.
//
//confgen:openapi {"oneOf": [{"required": ["endpoint"]}, {"required": ["backendRef"]}]}
type OpenTelemetry struct {
	Endpoint   *conf.Endpoint     `json:"endpoint,omitzero"`
	BackendRef *conf.CollectorRef `json:"backendRef,omitzero"`
}

// Sampling determines the share of traced requests, 100 percent by default.
type Sampling struct {
	// Overall limits the other two.
	Overall *conf.Percentage `json:"overall,omitzero"`
	// Client is the share of requests for which the client requests a trace.
	Client *conf.Percentage `json:"client,omitzero"`
	// Random is the share of all requests.
	Random *conf.Percentage `json:"random,omitzero"`
}

// Tag is a tag of spans. Its value is Literal or comes from Header.
//
//confgen:openapi {"oneOf": [{"required": ["literal"]}, {"required": ["header"]}], "allOf": [{"properties": {"name": {"minLength": 1}}}]}
type Tag struct {
	Name    string     `json:"name"`
	Literal *string    `json:"literal,omitzero"`
	Header  *HeaderTag `json:"header,omitzero"`
}

// HeaderTag takes the value of a tag from a header of the request.
type HeaderTag struct {
	Name conf.HeaderName `json:"name"`
	// Default is the value for requests without the header; nil omits the tag.
	Default *string `json:"default,omitzero"`
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
