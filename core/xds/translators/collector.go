package translators

import (
	"net"
	"net/url"
	"strconv"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	collectors "github.com/meshmatch/meshmatch/core/internal/collector"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/results"
)

// A collector is where a proxy sends telemetry, as a policy gives it.
type collector struct {
	host string
	port uint32
	tls  bool
	grpc bool
}

// collectorAt returns the gRPC collector at host:port, which must be valid.
func collectorAt(address string) collector {
	host, port, _ := net.SplitHostPort(address)
	number, _ := strconv.ParseUint(port, 10, 16)
	return collector{host: host, port: uint32(number), grpc: true}
}

// collectorAtURL returns the HTTP collector at a URL, and the parsed URL. The URL must be
// valid.
func collectorAtURL(address conf.URL) (collector, *url.URL) {
	u, err := url.Parse(string(address))
	if err != nil {
		return collector{}, &url.URL{}
	}
	at := collector{host: u.Hostname(), port: 80, tls: u.Scheme == "https"}
	if at.tls {
		at.port = 443
	}
	if port, err := strconv.ParseUint(u.Port(), 10, 16); err == nil {
		at.port = uint32(port)
	}
	return at, u
}

// exporter is how Envoy sends a signal of OpenTelemetry to a collector. One of the fields
// is set.
type exporter struct {
	grpc *corev3.GrpcService
	http *corev3.HttpService
}

// newExporter returns how Envoy sends a signal to a collector, given by an endpoint or by a
// reference in a field: by gRPC, or by HTTP at the path of the signal, which is one of those
// of package collector. The cluster of the collector is added to the draft. If there is no
// collector, the second result is false, and the draft has a warning.
func newExporter(draft telemetryDraft, e *results.Effective, field string, endpoint *conf.Endpoint, ref *conf.CollectorRef, signal string) (exporter, bool) {
	switch {
	case endpoint != nil:
		return exporterTo(draft, e, field+"/endpoint", *endpoint, signal), true
	case ref == nil: // Kuma 3 does not read endpoints
		return exporter{}, false
	}
	found, ok := draft.Collector(ref)
	if !ok {
		draft.WarnUnresolved(e, field+"/backendRef", "no MeshOpenTelemetryBackend is found, so nothing is sent")
		return exporter{}, false
	}
	return exporterBy(draft, &found, signal), true
}

// exporterTo returns how Envoy sends a signal to an endpoint. A URL without a path has the
// path of the signal.
func exporterTo(draft telemetryDraft, e *results.Effective, field string, endpoint conf.Endpoint, signal string) exporter {
	address, isURL := endpoint.URL()
	if !isURL {
		at := collectorAt(endpoint.HostPort())
		draft.AddCluster(at.cluster())
		return exporter{grpc: message.ToCluster(at.name())}
	}
	at, u := collectorAtURL(address)
	at.warnOfTLS(draft, e, field)
	if u.Path == "" || u.Path == "/" {
		u.Path = signal
	}
	draft.AddCluster(at.cluster())
	return exporter{http: httpService(at.name(), u.String())}
}

// exporterBy returns how Envoy sends a signal to a collector that is a resource. Its cluster
// has the name of the resource, so that another address of a gRPC collector changes no
// listener.
func exporterBy(draft telemetryDraft, c *collectors.Collector, signal string) exporter {
	name := "collector/" + c.Backend.KRI("")
	var tls *tlsv3.UpstreamTlsContext
	if c.TLS {
		tls = message.NewVerifiedTLS(c.Host)
	}
	draft.AddCluster(message.NewCollectorCluster(name, c.Host, c.Port, tls, !c.HTTP))
	if c.HTTP {
		return exporter{http: httpService(name, c.URL(signal))}
	}
	return exporter{grpc: message.ToCluster(name)}
}

func httpService(cluster, uri string) *corev3.HttpService {
	return &corev3.HttpService{HttpUri: &corev3.HttpUri{
		Uri:              uri,
		HttpUpstreamType: &corev3.HttpUri_Cluster{Cluster: cluster},
		Timeout:          durationpb.New(openTelemetryTimeout),
	}}
}

// openTelemetryTimeout is how long a collector may take for a request over HTTP.
const openTelemetryTimeout = 10 * time.Second

// warnOfTLS warns if the proxy does not verify the collector, whose URL is in a field.
func (c collector) warnOfTLS(draft telemetryDraft, e *results.Effective, field string) {
	if c.tls {
		draft.Advise(diag.UnverifiedCollector, e, field, "the certificate of the collector is not verified")
	}
}

// name returns the name of the collector's cluster, which determines its content.
func (c collector) name() string {
	name := "collector/" + net.JoinHostPort(c.host, strconv.Itoa(int(c.port)))
	if c.tls {
		name += "/tls"
	}
	if c.grpc {
		name += "/grpc"
	}
	return name
}

// cluster returns the collector's cluster. The proxy does not verify its certificate.
func (c collector) cluster() *clusterv3.Cluster {
	var tls *tlsv3.UpstreamTlsContext
	if c.tls {
		tls = &tlsv3.UpstreamTlsContext{Sni: c.host}
	}
	return message.NewCollectorCluster(c.name(), c.host, c.port, tls, c.grpc)
}

// telemetryDraft is a draft that reaches collectors.
type telemetryDraft interface {
	AddCluster(*clusterv3.Cluster)
	Collector(*conf.CollectorRef) (collectors.Collector, bool)
	Warn(code diag.Code, e *results.Effective, field, format string, args ...any)
	WarnUnresolved(e *results.Effective, field, message string)
	WarnInbound(e *results.Effective, field, format string, args ...any)
	Advise(code diag.Code, e *results.Effective, field, message string)
}
