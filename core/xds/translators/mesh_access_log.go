package translators

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"strconv"
	"strings"

	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/config/accesslog/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	filev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/file/v3"
	grpclogv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/grpc/v3"
	otelv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/open_telemetry/v3"
	otlpv1 "go.opentelemetry.io/proto/otlp/common/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	collectors "github.com/meshmatch/meshmatch/core/internal/collector"
	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/kind/meshaccesslog"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

const meshAccessLogKind = "MeshAccessLog"

// meshAccessLog translates MeshAccessLog: access logs of listeners, in both
// directions, and of passthrough.
func meshAccessLog() xds.Translator {
	return xds.Translator{
		Kind:     meshAccessLogKind,
		Outbound: outboundAccessLogs,
		ByRoute:  true,
		Chain:    inboundAccessLogs,
		Proxy:    passthroughAccessLogs,
		Asks:     capability.LogServices | capability.APIs,
		Ignored:  []xds.IgnoredField{{Field: "/backends/*/tcp", Reason: "Envoy writes no log lines to TCP; use a file or OpenTelemetry"}},

		IgnoredByGRPC: ignoredByGRPC(noGRPC, ""),
	}
}

// outboundAccessLogs adds the logs of the outbound, and of routes that have a conf of
// their own.
func outboundAccessLogs(o *xds.Outbound, e *results.Effective) {
	var own []string
	for _, route := range o.RouteConfs {
		name := route.Policy.KRI()
		own = append(own, name)
		addOutboundLogs(o, route.Effective, celFilter("xds.route_name == "+strconv.Quote(name)))
	}
	var others *accesslogv3.AccessLogFilter
	if len(own) > 0 {
		others = routeIsOther(own)
	}
	addOutboundLogs(o, e, others)
}

// addOutboundLogs adds the logs of a conf, which may be nil. The filter is nil for all
// requests.
func addOutboundLogs(o *xds.Outbound, e *results.Effective, filter *accesslogv3.AccessLogFilter) {
	if e == nil {
		return
	}
	l := logs{
		draft: o, lacks: o.Lacks, effective: e, http: o.Protocol.IsHTTP(),
		proxy: o.Facets, mesh: o.Destination.Mesh, destination: literal(o.Destination.Tags.Value(resource.ServiceTag)),
	}
	for _, log := range l.all() {
		log.Filter = filter
		o.AddAccessLog(log)
	}
}

// passthroughService is the destination in logs of passthrough. Kuma writes it too.
const passthroughService = "external"

// passthroughAccessLogs adds the logs of connections to addresses that are no outbounds. Items
// for the whole mesh apply to them.
func passthroughAccessLogs(p *xds.Proxy, e *results.Effective) {
	if e == nil {
		return
	}
	l := logs{
		draft: p, lacks: p.Lacks, effective: e,
		proxy: ownProxy{p.Dataplane, p.Service}, mesh: p.Dataplane.Mesh, destination: passthroughService,
	}
	p.PassthroughLogs = func(http bool) []*accesslogv3.AccessLog {
		l.http = http
		return l.all()
	}
}

// inboundAccessLogs adds the logs of each conf that may apply to a client or a request.
// If there are several, a filter in front notes which of them is the first that
// applies, and each log is written for its own only.
func inboundAccessLogs(c *xds.Chain, conf xds.InboundConf) {
	choices := visibleChoices(c, conf)
	noted := func(int) *accesslogv3.AccessLogFilter { return nil }
	if len(choices) > 0 && !choices[0].Empty() {
		note := noteRequest
		if c.Manager == nil {
			note = noteConnection
		}
		var err error
		if noted, err = note(c, choices); err != nil {
			warnLimit(c.Inbound, conf, err)
			return
		}
	}
	for i, choice := range choices {
		for _, log := range inboundLogs(c, choice.Effective) {
			log.Filter = noted(i)
			c.AddAccessLog(log)
		}
	}
}

// inboundLogs returns the logs of one conf. The service of a client is not visible to
// the proxy of an inbound, but the identity that it proves is.
func inboundLogs(c *xds.Chain, e *results.Effective) []*accesslogv3.AccessLog {
	service := c.Inbound.Inbound.Tags.Value(resource.ServiceTag)
	l := logs{
		draft: c, lacks: c.Lacks, effective: e, http: c.Protocol.IsHTTP(), inbound: true,
		proxy: ownProxy{c.Dataplane, service}, mesh: c.Dataplane.Mesh, destination: literal(service),
	}
	return l.all()
}

// logs translates the backends of one conf.
type logs struct {
	draft     telemetryDraft
	lacks     capability.Set
	effective *results.Effective
	http      bool
	inbound   bool
	// proxy is read only for what a log has: the drafts of outbounds are shared.
	proxy       loggingProxy
	mesh        string // of the destination
	destination string // the service, as a format
}

// value returns the format of an operator of the mesh.
func (l logs) value(operator string) string {
	switch operator {
	case meshaccesslog.MeshOperator:
		return literal(l.mesh)
	case meshaccesslog.ZoneOperator:
		return literal(l.proxy.Zone())
	case meshaccesslog.WorkloadOperator:
		return cmp.Or(literal(l.proxy.Dataplane().WorkloadKRI()), "-") // Envoy writes it for a value that is absent
	case meshaccesslog.DestinationServiceOperator:
		return l.destination
	}
	if l.inbound {
		switch operator {
		case meshaccesslog.SourceServiceOperator:
			return "%DOWNSTREAM_PEER_URI_SAN%"
		case meshaccesslog.SourceAddressOperator:
			return "%DOWNSTREAM_REMOTE_ADDRESS%"
		case meshaccesslog.SourceAddressWithoutPortOperator:
			return "%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%"
		}
		return "INBOUND"
	}
	switch operator {
	case meshaccesslog.SourceServiceOperator:
		return literal(l.proxy.Service())
	case meshaccesslog.SourceAddressOperator:
		return literal(net.JoinHostPort(l.proxy.Dataplane().Address, "0"))
	case meshaccesslog.SourceAddressWithoutPortOperator:
		return literal(l.proxy.Dataplane().Address)
	}
	return "OUTBOUND"
}

func (l logs) all() (list []*accesslogv3.AccessLog) {
	access := results.MustConfOf[meshaccesslog.Conf](l.effective)
	for i := range access.Backends {
		switch b := &access.Backends[i]; {
		case b.File != nil:
			list = append(list, l.file(b.File))
		case b.OpenTelemetry != nil:
			field := fmt.Sprintf("/backends/%d/openTelemetry", i)
			to, ok := newExporter(l.draft, l.effective, field, b.OpenTelemetry.Endpoint, b.OpenTelemetry.BackendRef, collectors.LogsPath)
			switch {
			case !ok:
			case to.http != nil && l.lacks.Has(capability.LogServices):
				l.draft.Warn(diag.OlderEnvoy, l.effective, field, "%s: nothing is sent; send them by gRPC", capability.LogServices.Lack())
			default:
				list = append(list, l.openTelemetry(b.OpenTelemetry, to))
			}
		}
	}
	return list
}

func (l logs) file(f *meshaccesslog.File) *accesslogv3.AccessLog {
	return &accesslogv3.AccessLog{
		Name: "envoy.access_loggers.file",
		ConfigType: &accesslogv3.AccessLog_TypedConfig{TypedConfig: message.Any(&filev3.FileAccessLog{
			Path:            string(f.Path),
			AccessLogFormat: &filev3.FileAccessLog_LogFormat{LogFormat: l.format(f.Format)},
		})},
	}
}

// format returns the format of lines; a nil format is the default one.
func (l logs) format(f *meshaccesslog.Format) *corev3.SubstitutionFormatString {
	m := &corev3.SubstitutionFormatString{OmitEmptyValues: f != nil && isTrue(f.OmitEmptyValues)}
	if f != nil && f.Type == meshaccesslog.JSONFormat && f.JSON != nil {
		fields := map[string]*structpb.Value{}
		for _, field := range f.JSON {
			fields[field.Key] = structpb.NewStringValue(l.text(field.Value))
		}
		m.Format = &corev3.SubstitutionFormatString_JsonFormat{JsonFormat: &structpb.Struct{Fields: fields}}
		return m
	}
	text := defaultLine(l.http)
	if f != nil && f.Plain != nil {
		text = *f.Plain
	} else if l.http {
		m.Formatters = celFormatters()
	}
	m.Format = &corev3.SubstitutionFormatString_TextFormatSource{TextFormatSource: message.Inline(l.text(text) + "\n")}
	return m
}

// text replaces the operators of the mesh, and those that the client does not have.
func (l logs) text(format string) string {
	format = meshaccesslog.ReplaceOperators(format, l.value)
	return knownOperators(l.lacks, format, func(operator, release string) {
		l.draft.Warn(diag.OlderEnvoy, l.effective, "/backends", "Envoy before %s has no operator %s: \"-\" is written instead", release, operator)
	})
}

// openTelemetry translates a backend with the given collector.
func (l logs) openTelemetry(o *meshaccesslog.OpenTelemetry, to exporter) *accesslogv3.AccessLog {
	m := &otelv3.OpenTelemetryAccessLogConfig{
		DisableBuiltinLabels: true,
		ResourceAttributes:   proxyAttributes(l.proxy),
		Body:                 l.body(o.Body),
	}
	const name = "meshmatch"
	if l.lacks.Has(capability.LogServices) {
		//lint:ignore SA1019 Envoy 1.36 has no other field for it.
		m.CommonConfig = &grpclogv3.CommonGrpcAccessLogConfig{LogName: name, GrpcService: to.grpc, TransportApiVersion: corev3.ApiVersion_V3}
	} else {
		m.LogName, m.GrpcService, m.HttpService = name, to.grpc, to.http
	}
	if o.Body == nil && l.http {
		m.Formatters = celFormatters()
	}
	for _, a := range o.Attributes {
		if m.Attributes == nil {
			m.Attributes = &otlpv1.KeyValueList{}
		}
		m.Attributes.Values = append(m.Attributes.Values, &otlpv1.KeyValue{Key: a.Key, Value: stringValue(l.text(a.Value))})
	}
	return &accesslogv3.AccessLog{
		Name:       "envoy.access_loggers.open_telemetry",
		ConfigType: &accesslogv3.AccessLog_TypedConfig{TypedConfig: message.Any(m)},
	}
}

// body returns the body of log records: a value of OTLP in proto3 JSON, or any other
// JSON value as it is.
func (l logs) body(body *conf.JSON) *otlpv1.AnyValue {
	if body == nil {
		return stringValue(l.text(defaultLine(l.http)))
	}
	decoder := json.NewDecoder(strings.NewReader(string(*body)))
	decoder.UseNumber()
	var tree any
	_ = decoder.Decode(&tree) // it is JSON: it was decoded from it
	text, _ := json.Marshal(l.texts(tree))
	value := &otlpv1.AnyValue{}
	if protojson.Unmarshal(text, value) == nil {
		return withTexts(value)
	}
	_ = json.Unmarshal(text, &tree)
	return anyValue(tree)
}

// texts replaces the operators of the mesh in all strings of a JSON value, which stays
// JSON with any replacement.
func (l logs) texts(tree any) any {
	switch v := tree.(type) {
	case string:
		return l.text(v)
	case []any:
		for i := range v {
			v[i] = l.texts(v[i])
		}
	case map[string]any:
		for key, value := range v {
			v[key] = l.texts(value)
		}
	}
	return tree
}
