package translators

import (
	"slices"

	tracev3 "github.com/envoyproxy/go-control-plane/envoy/config/trace/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tracingv3 "github.com/envoyproxy/go-control-plane/envoy/type/tracing/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshmatch/meshmatch/core/diag"
	collectors "github.com/meshmatch/meshmatch/core/internal/collector"
	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/kind/meshtrace"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

const meshTraceKind = "MeshTrace"

// meshTrace translates MeshTrace: the spans of HTTP listeners, in both directions.
func meshTrace() xds.Translator {
	return xds.Translator{
		Kind: meshTraceKind,
		Outbound: with(func(o *xds.Outbound, e *results.Effective, trace *meshtrace.Conf) {
			if o.Manager == nil {
				return
			}
			o.Apply(meshTraceKind, "")
			service := o.Service()
			destination := o.Destination.Tags.Value(resource.ServiceTag)
			o.Manager.Tracing = tracing(o, e, trace, spanNames{service, service + "_OUTBOUND_" + destination, o.Destination.Mesh, o.Zone()})
		}),
		Chain: func(c *xds.Chain, conf xds.InboundConf) {
			trace := results.MustConfOf[meshtrace.Conf](conf.Default)
			if trace == nil || c.Manager == nil || c.Client == xds.ProxylessGRPC {
				return
			}
			c.Apply(meshTraceKind, "")
			service := c.Inbound.Inbound.Tags.Value(resource.ServiceTag)
			c.Manager.Tracing = tracing(c, conf.Default, trace, spanNames{service, service + "_INBOUND", c.Dataplane.Mesh, enforce.ZoneOf(c.Dataplane)})
		},
		Required: func(*results.Effective) []xds.RequiredField {
			return []xds.RequiredField{{IgnoredField: xds.IgnoredField{Reason: "the proxy has no HTTP listener, so it sees no requests to trace"}, OnPart: true}}
		},
		IgnoredByGRPC: ignoredByGRPC(noGRPC, ""),
	}
}

// spanNames are the names in the spans of a listener. Split takes the place of service for
// Datadog with splitService.
type spanNames struct{ service, split, mesh, zone string }

// tracing returns the tracing of a listener; nil if there is no backend. Spans have the mesh
// and the zone of the proxy as tags, unless the policy has a tag of that name.
func tracing(draft telemetryDraft, e *results.Effective, trace *meshtrace.Conf, names spanNames) *hcmv3.HttpConnectionManager_Tracing {
	if len(trace.Backends) == 0 {
		warnWithoutBackend(draft, e)
		return nil
	}
	var name string
	var provider proto.Message
	switch b := &trace.Backends[0]; {
	case b.Zipkin != nil:
		name, provider = "envoy.tracers.zipkin", zipkin(draft, e, b.Zipkin)
	case b.Datadog != nil:
		service := names.service
		if isTrue(b.Datadog.SplitService) {
			service = names.split
		}
		name, provider = "envoy.tracers.datadog", datadog(draft, b.Datadog, service)
	case b.OpenTelemetry != nil:
		name = "envoy.tracers.opentelemetry"
		to, ok := newExporter(draft, e, "/backends/0/openTelemetry", b.OpenTelemetry.Endpoint, b.OpenTelemetry.BackendRef, collectors.TracesPath)
		if !ok {
			warnWithoutBackend(draft, e)
			return nil
		}
		provider = &tracev3.OpenTelemetryConfig{GrpcService: to.grpc, HttpService: to.http, ServiceName: names.service}
	default: // a type alone
		warnWithoutBackend(draft, e)
		return nil
	}
	t := &hcmv3.HttpConnectionManager_Tracing{
		Provider: &tracev3.Tracing_Http{Name: name, ConfigType: &tracev3.Tracing_Http_TypedConfig{TypedConfig: message.Any(provider)}},
	}
	if s := trace.Sampling; s != nil {
		t.OverallSampling = percent(s.Overall)
		t.ClientSampling = percent(s.Client)
		t.RandomSampling = percent(s.Random)
	}
	for _, own := range []meshtrace.Tag{{Name: "mesh", Literal: &names.mesh}, {Name: "zone", Literal: &names.zone}} {
		named := slices.ContainsFunc(trace.Tags, func(tag meshtrace.Tag) bool { return tag.Name == own.Name })
		if *own.Literal != "" && !named {
			t.CustomTags = append(t.CustomTags, customTag(own))
		}
	}
	for _, tag := range trace.Tags {
		t.CustomTags = append(t.CustomTags, customTag(tag))
	}
	return t
}

// warnWithoutBackend reports what has no effect without a backend.
func warnWithoutBackend(draft telemetryDraft, e *results.Effective) {
	for _, field := range []string{"/sampling", "/tags"} {
		draft.WarnInbound(e, field, "there is no backend to which spans are sent")
	}
}

func zipkin(draft telemetryDraft, e *results.Effective, z *meshtrace.Zipkin) *tracev3.ZipkinConfig {
	at, u := collectorAtURL(z.URL)
	draft.AddCluster(at.cluster())
	at.warnOfTLS(draft, e, "/backends/0/zipkin/url")
	m := &tracev3.ZipkinConfig{
		CollectorCluster: at.name(), CollectorEndpoint: u.RequestURI(), CollectorHostname: u.Host,
		CollectorEndpointVersion: tracev3.ZipkinConfig_HTTP_JSON,
		TraceId_128Bit:           isTrue(z.TraceID128Bit),
	}
	if z.SharedSpanContext != nil {
		m.SharedSpanContext = wrapperspb.Bool(*z.SharedSpanContext)
	}
	switch {
	case z.APIVersion == nil:
	case *z.APIVersion == meshtrace.HTTPProto:
		m.CollectorEndpointVersion = tracev3.ZipkinConfig_HTTP_PROTO
	case *z.APIVersion == meshtrace.HTTPJSONV1:
		draft.Warn(diag.NoEffectHere, e, "/backends/0/zipkin/apiVersion", "Envoy no longer has httpJsonV1; httpJson is used")
	}
	return m
}

func datadog(draft telemetryDraft, d *meshtrace.Datadog, service string) *tracev3.DatadogConfig {
	at, u := collectorAtURL(d.URL)
	draft.AddCluster(at.cluster())
	return &tracev3.DatadogConfig{CollectorCluster: at.name(), CollectorHostname: u.Host, ServiceName: service}
}

func customTag(t meshtrace.Tag) *tracingv3.CustomTag {
	m := &tracingv3.CustomTag{Tag: t.Name}
	switch {
	case t.Literal != nil:
		m.Type = &tracingv3.CustomTag_Literal_{Literal: &tracingv3.CustomTag_Literal{Value: *t.Literal}}
	case t.Header != nil:
		m.Type = &tracingv3.CustomTag_RequestHeader{RequestHeader: &tracingv3.CustomTag_Header{
			Name: string(t.Header.Name), DefaultValue: valueOr(t.Header.Default, ""),
		}}
	}
	return m
}
