package translators

import (
	"net"
	"net/url"
	"strconv"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/rules"
	"github.com/meshmatch/meshmatch/core/xds/message"
)

// A collector is where a proxy sends telemetry.
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

// openTelemetryService returns how Envoy reaches a collector of OpenTelemetry: by gRPC, or
// by HTTP at the path of the endpoint's URL. A URL without a path has the standard one of
// the signal. The cluster of the collector is added to the draft.
func openTelemetryService(draft telemetryDraft, e *rules.Effective, field string, endpoint conf.Endpoint, standardPath string) (*corev3.GrpcService, *corev3.HttpService) {
	address, isURL := endpoint.URL()
	if !isURL {
		at := collectorAt(string(endpoint))
		draft.AddCluster(at.cluster())
		return &corev3.GrpcService{TargetSpecifier: &corev3.GrpcService_EnvoyGrpc_{
			EnvoyGrpc: &corev3.GrpcService_EnvoyGrpc{ClusterName: at.name()},
		}}, nil
	}
	at, u := collectorAtURL(address)
	at.warnOfTLS(draft, e, field)
	if u.Path == "" || u.Path == "/" {
		u.Path = standardPath
	}
	draft.AddCluster(at.cluster())
	return nil, &corev3.HttpService{HttpUri: &corev3.HttpUri{
		Uri:              u.String(),
		HttpUpstreamType: &corev3.HttpUri_Cluster{Cluster: at.name()},
		Timeout:          durationpb.New(openTelemetryTimeout),
	}}
}

// openTelemetryTimeout is how long a collector may take for a request over HTTP.
const openTelemetryTimeout = 10 * time.Second

// warnOfTLS warns if the proxy does not verify the collector, whose URL is in a field.
func (c collector) warnOfTLS(draft telemetryDraft, e *rules.Effective, field string) {
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

// cluster returns the collector's cluster.
func (c collector) cluster() *clusterv3.Cluster {
	return message.NewCollectorCluster(c.name(), c.host, c.port, c.tls, c.grpc)
}

// telemetryDraft is a draft that reaches collectors.
type telemetryDraft interface {
	AddCluster(*clusterv3.Cluster)
	Warn(code diag.Code, e *rules.Effective, field, format string, args ...any)
	WarnInbound(e *rules.Effective, field, format string, args ...any)
	Advise(code diag.Code, e *rules.Effective, field, message string)
}

const noCollector = "a MeshOpenTelemetryBackend is not used as a collector here; use endpoint"
