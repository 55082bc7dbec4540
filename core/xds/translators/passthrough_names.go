package translators

import (
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	dynamicclusterv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/clusters/dynamic_forward_proxy/v3"
	dnscachev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/dynamic_forward_proxy/v3"
	setfilterstatev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/common/set_filter_state/v3"
	httpnamesv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/dynamic_forward_proxy/v3"
	httpfilterstatev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/set_filter_state/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	networkfilterstatev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/set_filter_state/v3"
	snifilterv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/sni_dynamic_forward_proxy/v3"
	tcpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/kind/meshpassthrough"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
)

// namesPassthrough is the name of the cluster that resolves names (SPEC 11.4).
const namesPassthrough = "passthrough/domains"

// resolver connects to the addresses of the host name in the request or in the ClientHello,
// and ignores the address to which the client connected. Otherwise a request with a
// permitted name could reach any address. The port is taken from the connection.
type resolver struct {
	family clusterv3.Cluster_DnsLookupFamily
}

// resolverOf returns the resolver of a proxy.
func resolverOf(proxy *resource.TransparentProxy) resolver {
	switch proxy.IPFamilyMode {
	case "IPv4":
		return resolver{clusterv3.Cluster_V4_ONLY}
	case "IPv6":
		return resolver{clusterv3.Cluster_V6_ONLY}
	}
	return resolver{clusterv3.Cluster_V4_PREFERRED}
}

// resolves reports whether a match names a domain.
func resolves(passthrough *meshpassthrough.Conf) bool {
	return isMatched(passthrough) && slices.ContainsFunc(passthrough.AppendMatch, func(m meshpassthrough.Match) bool {
		return m.Type == meshpassthrough.Domain
	})
}

func (r resolver) cache() *dnscachev3.DnsCacheConfig {
	return &dnscachev3.DnsCacheConfig{Name: "passthrough", DnsLookupFamily: r.family}
}

// cluster returns the cluster of the addresses that were resolved.
func (r resolver) cluster() *clusterv3.Cluster {
	return &clusterv3.Cluster{
		Name:           namesPassthrough,
		ConnectTimeout: durationpb.New(message.OutboundConnectTimeout),
		LbPolicy:       clusterv3.Cluster_CLUSTER_PROVIDED,
		ClusterDiscoveryType: &clusterv3.Cluster_ClusterType{ClusterType: &clusterv3.Cluster_CustomClusterType{
			Name: "envoy.clusters.dynamic_forward_proxy",
			TypedConfig: message.Any(&dynamicclusterv3.ClusterConfig{
				ClusterImplementationSpecifier: &dynamicclusterv3.ClusterConfig_DnsCacheConfig{DnsCacheConfig: r.cache()},
				AllowInsecureClusterOptions:    true, // TLS is between the client and the server
			}),
		}},
		TypedExtensionProtocolOptions: map[string]*anypb.Any{
			"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": sameProtocol(),
		},
	}
}

// originalPort is the port of the client's original destination.
func originalPort() []*setfilterstatev3.FilterStateValue {
	const key = "envoy.upstream.dynamic_port"
	return []*setfilterstatev3.FilterStateValue{{
		Key: &setfilterstatev3.FilterStateValue_ObjectKey{ObjectKey: key},
		Value: &setfilterstatev3.FilterStateValue_FormatString{FormatString: &corev3.SubstitutionFormatString{
			Format: &corev3.SubstitutionFormatString_TextFormatSource{TextFormatSource: &corev3.DataSource{
				Specifier: &corev3.DataSource_InlineString{InlineString: "%DOWNSTREAM_LOCAL_PORT%"},
			}},
		}},
	}}
}

// hosts returns the filters of plain HTTP to the given domains.
func (r resolver) hosts(domains []string) []*listenerv3.Filter {
	slices.Sort(domains)
	routes := &routev3.RouteConfiguration{
		VirtualHosts: []*routev3.VirtualHost{{
			Name: "passthrough", Domains: slices.Compact(domains),
			Routes: []*routev3.Route{{
				Match: prefixMatch("/"),
				Action: &routev3.Route_Route{Route: &routev3.RouteAction{
					ClusterSpecifier: &routev3.RouteAction_Cluster{Cluster: namesPassthrough},
					Timeout:          durationpb.New(0),
				}},
			}},
		}},
	}
	filters := &xds.Filters{Manager: &hcmv3.HttpConnectionManager{
		StatPrefix:        "passthrough",
		RouteSpecifier:    &hcmv3.HttpConnectionManager_RouteConfig{RouteConfig: routes},
		StreamIdleTimeout: durationpb.New(message.OutboundStreamIdleTimeout),
		StripPortMode:     &hcmv3.HttpConnectionManager_StripAnyHostPort{StripAnyHostPort: true}, // it would be the port to connect to
	}}
	filters.AddHTTPFilter("envoy.filters.http.set_filter_state", message.Any(&httpfilterstatev3.Config{OnRequestHeaders: originalPort()}))
	filters.AddHTTPFilter("envoy.filters.http.dynamic_forward_proxy", message.Any(&httpnamesv3.FilterConfig{
		ImplementationSpecifier:         &httpnamesv3.FilterConfig_DnsCacheConfig{DnsCacheConfig: r.cache()},
		AllowDynamicHostFromFilterState: true,
	}))
	return filters.List()
}

// serverName returns the filters of TLS to the server name that the client gives.
func (r resolver) serverName() []*listenerv3.Filter {
	filters := &xds.Filters{TCP: &tcpv3.TcpProxy{
		StatPrefix:       "passthrough",
		ClusterSpecifier: &tcpv3.TcpProxy_Cluster{Cluster: namesPassthrough},
		IdleTimeout:      durationpb.New(message.OutboundIdleTimeout),
	}}
	filters.AddNetworkFilter("envoy.filters.network.set_filter_state", message.Any(&networkfilterstatev3.Config{OnNewConnection: originalPort()}))
	filters.AddNetworkFilter("envoy.filters.network.sni_dynamic_forward_proxy", message.Any(&snifilterv3.FilterConfig{
		DnsCacheConfig: r.cache(),
		PortSpecifier:  &snifilterv3.FilterConfig_PortValue{PortValue: 443}, // never used: the port is known
	}))
	return filters.List()
}
