package translators

import (
	"net/netip"
	"slices"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshmatch/meshmatch/core/kind/meshpassthrough"
	"github.com/meshmatch/meshmatch/core/xds"
)

// inspectionTimeout is how long a listener waits for the first bytes of a client to
// find out its protocol.
const inspectionTimeout = time.Second

// matchedChains returns a filter chain for each distinct condition of the matches. One
// connection is in the chain of the most specific condition, as Envoy compares them:
// port, address, server name, transport protocol, application protocol. Domains of
// plain HTTP on one port are virtual hosts of one chain.
func matchedChains(matches []meshpassthrough.Match) []*listenerv3.FilterChain {
	var chains []*listenerv3.FilterChain
	hosts := map[uint32][]string{} // domains of plain HTTP by port, 0 for each port
	for i := range matches {
		m := &matches[i]
		if m.Type == meshpassthrough.Domain && m.Speaks().IsHTTP() {
			hosts[portOf(m)] = append(hosts[portOf(m)], m.Value)
			continue
		}
		condition := conditionOf(m)
		if !slices.ContainsFunc(chains, func(c *listenerv3.FilterChain) bool { return proto.Equal(c.FilterChainMatch, condition) }) {
			chains = append(chains, &listenerv3.FilterChain{FilterChainMatch: condition, Filters: toOriginal(outboundPassthrough)})
		}
	}
	ports := make([]uint32, 0, len(hosts))
	for port := range hosts {
		ports = append(ports, port)
	}
	slices.Sort(ports)
	for _, port := range ports {
		chains = append(chains, hostsChain(port, hosts[port]))
	}
	return chains
}

func portOf(m *meshpassthrough.Match) uint32 {
	if m.Port == nil {
		return 0
	}
	return uint32(*m.Port)
}

// conditionOf returns the condition of a match that is forwarded without a look at
// its requests.
func conditionOf(m *meshpassthrough.Match) *listenerv3.FilterChainMatch {
	condition := &listenerv3.FilterChainMatch{}
	if port := portOf(m); port != 0 {
		condition.DestinationPort = wrapperspb.UInt32(port)
	}
	switch m.Type {
	case meshpassthrough.IP:
		ip := netip.MustParseAddr(m.Value)
		condition.PrefixRanges = []*corev3.CidrRange{{AddressPrefix: ip.String(), PrefixLen: wrapperspb.UInt32(uint32(ip.BitLen()))}}
	case meshpassthrough.CIDR:
		prefix := netip.MustParsePrefix(m.Value).Masked()
		condition.PrefixRanges = []*corev3.CidrRange{{AddressPrefix: prefix.Addr().String(), PrefixLen: wrapperspb.UInt32(uint32(prefix.Bits()))}}
	case meshpassthrough.Domain:
		if m.Value != "*" {
			condition.ServerNames = []string{m.Value}
		}
	}
	switch {
	case m.Speaks() == meshpassthrough.TLS:
		condition.TransportProtocol = "tls"
	case m.Speaks().IsHTTP():
		condition.TransportProtocol = "raw_buffer"
		condition.ApplicationProtocols = []string{"http/1.1", "h2c"}
	}
	return condition
}

// hostsChain returns the chain of plain HTTP to the given domains.
func hostsChain(port uint32, domains []string) *listenerv3.FilterChain {
	condition := &listenerv3.FilterChainMatch{
		TransportProtocol: "raw_buffer", ApplicationProtocols: []string{"http/1.1", "h2c"},
	}
	if port != 0 {
		condition.DestinationPort = wrapperspb.UInt32(port)
	}
	slices.Sort(domains)
	routes := &routev3.RouteConfiguration{
		IgnorePortInHostMatching: true,
		VirtualHosts: []*routev3.VirtualHost{{
			Name: "passthrough", Domains: slices.Compact(domains),
			Routes: []*routev3.Route{{
				Match: &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: "/"}},
				Action: &routev3.Route_Route{Route: &routev3.RouteAction{
					ClusterSpecifier: &routev3.RouteAction_Cluster{Cluster: outboundPassthrough},
					Timeout:          durationpb.New(0),
				}},
			}},
		}},
	}
	return &listenerv3.FilterChain{FilterChainMatch: condition, Filters: (&xds.Filters{Manager: &hcmv3.HttpConnectionManager{
		StatPrefix:        "passthrough",
		RouteSpecifier:    &hcmv3.HttpConnectionManager_RouteConfig{RouteConfig: routes},
		StreamIdleTimeout: durationpb.New(xds.OutboundStreamIdleTimeout),
	}}).List()}
}
