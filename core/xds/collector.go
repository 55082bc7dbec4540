package xds

import (
	"net/netip"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
)

// NewCollectorCluster returns a cluster of one host outside of the mesh, such as a
// collector of telemetry. The host is an IP address or a host name, which is
// resolved. With tls the proxy encrypts, and does not verify the certificate: Envoy has
// no authorities of the system. With http2 it speaks HTTP/2.
func NewCollectorCluster(name, host string, port uint32, tls, http2 bool) *clusterv3.Cluster {
	c := newCluster(name, OutboundConnectTimeout)
	c.ClusterDiscoveryType = &clusterv3.Cluster_Type{Type: clusterv3.Cluster_STATIC}
	if _, err := netip.ParseAddr(host); err != nil {
		resolve(c)
	}
	c.LoadAssignment = &endpointv3.ClusterLoadAssignment{ClusterName: name, Endpoints: []*endpointv3.LocalityLbEndpoints{
		{LbEndpoints: []*endpointv3.LbEndpoint{(&Endpoint{Address: host, Port: port}).message(clientTLS{})}},
	}}
	protocol := HTTP
	if http2 {
		protocol = HTTP2
	}
	setHTTPOptions(c, newHTTPOptions(protocol, OutboundIdleTimeout))
	if tls {
		c.TransportSocket = &corev3.TransportSocket{Name: tlsSocket, ConfigType: &corev3.TransportSocket_TypedConfig{
			TypedConfig: Any(&tlsv3.UpstreamTlsContext{Sni: host}),
		}}
	}
	return c
}

// resolve makes Envoy look up the host names of a cluster's endpoints, IPv4 addresses
// first.
func resolve(c *clusterv3.Cluster) {
	c.ClusterDiscoveryType = &clusterv3.Cluster_Type{Type: clusterv3.Cluster_STRICT_DNS}
	c.DnsLookupFamily = clusterv3.Cluster_V4_PREFERRED
}
