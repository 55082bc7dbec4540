package xds

import (
	"net/netip"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
)

// NewCollectorCluster returns a cluster of one host outside of the mesh, such as a
// collector of telemetry. The host is an IP address or a host name, which is
// resolved. With tls the proxy encrypts, and does not verify the certificate: Envoy has
// no authorities of the system. With http2 it speaks HTTP/2.
func NewCollectorCluster(name, host string, port uint32, tls, http2 bool) *clusterv3.Cluster {
	c := staticCluster(name, SocketAddress(host, port), OutboundConnectTimeout)
	if _, err := netip.ParseAddr(host); err != nil {
		resolve(c)
	}
	protocol := HTTP
	if http2 {
		protocol = HTTP2
	}
	setHTTPOptions(c, newHTTPOptions(protocol, OutboundIdleTimeout))
	if tls {
		c.TransportSocket = transportSocket(&tlsv3.UpstreamTlsContext{Sni: host})
	}
	return c
}

// resolve makes Envoy look up the host names of a cluster's endpoints, IPv4 addresses
// first.
func resolve(c *clusterv3.Cluster) {
	c.ClusterDiscoveryType = &clusterv3.Cluster_Type{Type: clusterv3.Cluster_STRICT_DNS}
	c.DnsLookupFamily = clusterv3.Cluster_V4_PREFERRED
}
