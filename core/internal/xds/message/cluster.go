package message

import (
	"net/netip"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	httpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
)

// UseEDS makes Envoy fetch the endpoints of a cluster as a separate resource.
func UseEDS(c *clusterv3.Cluster) {
	c.ClusterDiscoveryType = &clusterv3.Cluster_Type{Type: clusterv3.Cluster_EDS}
	c.EdsClusterConfig = &clusterv3.Cluster_EdsClusterConfig{EdsConfig: FromADS()}
}

func NewCluster(name string, connect time.Duration) *clusterv3.Cluster {
	return &clusterv3.Cluster{Name: name, ConnectTimeout: durationpb.New(connect)}
}

// NewHTTPOptions returns the options of HTTP connections to an upstream that speaks p.
// Connections are closed after idle without requests.
func NewHTTPOptions(p Protocol, idle time.Duration) *httpv3.HttpProtocolOptions {
	var m struct {
		options  httpv3.HttpProtocolOptions
		common   corev3.HttpProtocolOptions
		idle     durationpb.Duration
		kind     httpv3.HttpProtocolOptions_ExplicitHttpConfig_
		explicit httpv3.HttpProtocolOptions_ExplicitHttpConfig
		http1    httpv3.HttpProtocolOptions_ExplicitHttpConfig_HttpProtocolOptions
		first    corev3.Http1ProtocolOptions
	}
	if p.IsHTTP2() {
		m.explicit.ProtocolConfig = &httpv3.HttpProtocolOptions_ExplicitHttpConfig_Http2ProtocolOptions{
			Http2ProtocolOptions: &corev3.Http2ProtocolOptions{},
		}
	} else {
		m.http1.HttpProtocolOptions = &m.first
		m.explicit.ProtocolConfig = &m.http1
	}
	m.common.IdleTimeout = set(&m.idle, idle)
	m.kind.ExplicitHttpConfig = &m.explicit
	m.options.CommonHttpProtocolOptions, m.options.UpstreamProtocolOptions = &m.common, &m.kind
	return &m.options
}

// SetHTTPOptions puts options, which may be nil, into a cluster.
func SetHTTPOptions(c *clusterv3.Cluster, options *httpv3.HttpProtocolOptions) {
	if options == nil {
		return
	}
	if c.TypedExtensionProtocolOptions == nil {
		c.TypedExtensionProtocolOptions = map[string]*anypb.Any{}
	}
	c.TypedExtensionProtocolOptions["envoy.extensions.upstreams.http.v3.HttpProtocolOptions"] = Any(options)
}

// AdminCluster is the name of the cluster for the proxy's own admin interface. Each
// bootstrap has it.
const AdminCluster = "admin"

// NewStaticCluster returns a cluster with one endpoint, or with none if the address is nil.
func NewStaticCluster(name string, address *corev3.Address, connect time.Duration) *clusterv3.Cluster {
	var m struct {
		cluster    clusterv3.Cluster
		connect    durationpb.Duration
		kind       clusterv3.Cluster_Type
		assignment endpointv3.ClusterLoadAssignment
		locality   endpointv3.LocalityLbEndpoints
		localities [1]*endpointv3.LocalityLbEndpoints
		lb         endpointv3.LbEndpoint
		lbs        [1]*endpointv3.LbEndpoint
		identifier endpointv3.LbEndpoint_Endpoint
		endpoint   endpointv3.Endpoint
	}
	m.kind.Type = clusterv3.Cluster_STATIC
	m.assignment.ClusterName = name
	if address != nil {
		m.endpoint.Address = address
		m.identifier.Endpoint = &m.endpoint
		m.lb.HostIdentifier = &m.identifier
		m.lbs[0] = &m.lb
		m.locality.LbEndpoints = m.lbs[:]
		m.localities[0] = &m.locality
		m.assignment.Endpoints = m.localities[:]
	}
	c := &m.cluster
	c.Name, c.ConnectTimeout, c.ClusterDiscoveryType, c.LoadAssignment = name, set(&m.connect, connect), &m.kind, &m.assignment
	return c
}

// SystemCAs is the file with the CAs of the system where a proxy runs. Images of Envoy,
// Debian and Alpine have it.
const SystemCAs = "/etc/ssl/certs/ca-certificates.crt"

// NewVerifiedTLS returns the TLS of connections to a host whose certificate must have its
// name or address, and be signed by a CA of the system.
func NewVerifiedTLS(host string) *tlsv3.UpstreamTlsContext {
	validation := &tlsv3.CertificateValidationContext{TrustedCa: FileSource(SystemCAs)}
	AcceptName(validation, Exactly(host))
	m := &tlsv3.UpstreamTlsContext{CommonTlsContext: &tlsv3.CommonTlsContext{
		TlsParams:             &tlsv3.TlsParameters{TlsMaximumProtocolVersion: tlsv3.TlsParameters_TLSv1_3},
		ValidationContextType: &tlsv3.CommonTlsContext_ValidationContext{ValidationContext: validation},
	}}
	if _, err := netip.ParseAddr(host); err != nil {
		m.Sni = host
	}
	return m
}

// NewCollectorCluster returns a cluster of one host outside the mesh, such as a telemetry
// collector. The host is an IP address or a name that Envoy resolves. The proxy connects by
// TLS unless it is nil. With http2 it speaks HTTP/2.
func NewCollectorCluster(name, host string, port uint32, tls *tlsv3.UpstreamTlsContext, http2 bool) *clusterv3.Cluster {
	c := NewStaticCluster(name, SocketAddress(host, port), OutboundConnectTimeout)
	if _, err := netip.ParseAddr(host); err != nil {
		Resolve(c)
	}
	protocol := HTTP
	if http2 {
		protocol = HTTP2
	}
	SetHTTPOptions(c, NewHTTPOptions(protocol, OutboundIdleTimeout))
	if tls != nil {
		c.TransportSocket = TransportSocket(tls)
	}
	return c
}

// Resolve makes Envoy look up the host names of a cluster's endpoints. IPv4 addresses are
// preferred.
func Resolve(c *clusterv3.Cluster) {
	c.ClusterDiscoveryType = &clusterv3.Cluster_Type{Type: clusterv3.Cluster_STRICT_DNS}
	c.DnsLookupFamily = clusterv3.Cluster_V4_PREFERRED
}
