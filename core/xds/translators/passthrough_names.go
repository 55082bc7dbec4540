package translators

import (
	"slices"

	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/config/accesslog/v3"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	dynamicclusterv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/clusters/dynamic_forward_proxy/v3"
	dnscachev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/dynamic_forward_proxy/v3"
	setfilterstatev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/common/set_filter_state/v3"
	httpnamesv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/dynamic_forward_proxy/v3"
	headertometadatav3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/header_to_metadata/v3"
	httpfilterstatev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/set_filter_state/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	networkfilterstatev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/set_filter_state/v3"
	snifilterv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/sni_dynamic_forward_proxy/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
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
	logs   func(http bool) []*accesslogv3.AccessLog // nil: there are none
}

// resolverOf returns the resolver of a proxy, with the logs of its connections.
func resolverOf(proxy *resource.TransparentProxy, logs func(http bool) []*accesslogv3.AccessLog) resolver {
	switch proxy.IPFamilyMode {
	case "IPv4":
		return resolver{clusterv3.Cluster_V4_ONLY, logs}
	case "IPv6":
		return resolver{clusterv3.Cluster_V6_ONLY, logs}
	}
	return resolver{clusterv3.Cluster_V4_PREFERRED, logs}
}

// list finishes the draft of the filters of a chain, with the logs of its connections.
func (r resolver) list(filters *xds.Filters) []*listenerv3.Filter {
	if r.logs != nil {
		for _, log := range r.logs(filters.Manager != nil) {
			filters.AddAccessLog(log)
		}
	}
	return filters.List()
}

// asItIs returns the filters that forward a connection of the workload to the address to which
// the client connected.
func (r resolver) asItIs() []*listenerv3.Filter { return r.list(forwarding(outboundPassthrough)) }

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
	return []*setfilterstatev3.FilterStateValue{filterState("envoy.upstream.dynamic_port", "%DOWNSTREAM_LOCAL_PORT%")}
}

func filterState(key, format string) *setfilterstatev3.FilterStateValue {
	return &setfilterstatev3.FilterStateValue{
		Key: &setfilterstatev3.FilterStateValue_ObjectKey{ObjectKey: key},
		Value: &setfilterstatev3.FilterStateValue_FormatString{FormatString: &corev3.SubstitutionFormatString{
			Format: &corev3.SubstitutionFormatString_TextFormatSource{TextFormatSource: message.Inline(format)},
		}},
	}
}

// The place in the metadata of a request that has the name to resolve.
const hostNamespace, hostKey = "meshmatch.passthrough", "host"

// hostWithoutPort writes the host of a request, without ports, into its metadata. The port in a
// Host header would be the port to connect to, but the server gets the header as it is.
func hostWithoutPort() *headertometadatav3.Config {
	return &headertometadatav3.Config{RequestRules: []*headertometadatav3.Config_Rule{{
		Header: ":authority",
		OnHeaderPresent: &headertometadatav3.Config_KeyValuePair{
			MetadataNamespace: hostNamespace, Key: hostKey, Type: headertometadatav3.Config_STRING,
			RegexValueRewrite: &matcherv3.RegexMatchAndSubstitute{Pattern: &matcherv3.RegexMatcher{Regex: "(:[0-9]+)+$"}},
		},
	}}}
}

// hosts returns the filters of plain HTTP to the given domains.
func (r resolver) hosts(domains []string) []*listenerv3.Filter {
	slices.Sort(domains)
	routes := &routev3.RouteConfiguration{
		IgnorePortInHostMatching: true,
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
	}}
	filters.AddHTTPFilter("envoy.filters.http.header_to_metadata", message.Any(hostWithoutPort()))
	filters.AddHTTPFilter("envoy.filters.http.set_filter_state", message.Any(&httpfilterstatev3.Config{
		OnRequestHeaders: append(originalPort(), filterState("envoy.upstream.dynamic_host", "%DYNAMIC_METADATA("+hostNamespace+":"+hostKey+")%")),
	}))
	filters.AddHTTPFilter("envoy.filters.http.dynamic_forward_proxy", message.Any(&httpnamesv3.FilterConfig{
		ImplementationSpecifier:         &httpnamesv3.FilterConfig_DnsCacheConfig{DnsCacheConfig: r.cache()},
		AllowDynamicHostFromFilterState: true,
	}))
	return r.list(filters)
}

// serverName returns the filters of TLS to the server name that the client gives.
func (r resolver) serverName() []*listenerv3.Filter {
	filters := forwarding(namesPassthrough)
	filters.AddNetworkFilter("envoy.filters.network.set_filter_state", message.Any(&networkfilterstatev3.Config{OnNewConnection: originalPort()}))
	filters.AddNetworkFilter("envoy.filters.network.sni_dynamic_forward_proxy", message.Any(&snifilterv3.FilterConfig{
		DnsCacheConfig: r.cache(),
		PortSpecifier:  &snifilterv3.FilterConfig_PortValue{PortValue: 443}, // never used: the port is known
	}))
	return r.list(filters)
}
