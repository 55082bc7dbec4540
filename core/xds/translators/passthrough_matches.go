package translators

import (
	"net/netip"
	"slices"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshmatch/meshmatch/core/kind/meshpassthrough"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/message"
)

// inspectionTimeout is how long a listener waits for the first bytes of a client to
// find out its protocol.
const inspectionTimeout = time.Second

// maxPassthroughChains is the number of filter chains up to which matches are
// translated.
const maxPassthroughChains = 10_000

// Envoy finds a filter chain by one property after the other: port, address, server
// name, transport protocol, application protocol. It takes the most specific value of
// each, and does not come back to a less specific one if nothing below it matches. So
// there is a group of chains for each port and address that a match has, with all
// matches that include them.

// passthroughGroup is the port and the addresses of a group of chains.
type passthroughGroup struct {
	port     uint32       // 0: each other port
	prefixes netip.Prefix // zero: each other address
}

// matchedChains returns the filter chains of matches, and false if they would be too
// many.
func matchedChains(matches []meshpassthrough.Match) ([]*listenerv3.FilterChain, bool) {
	var chains []*listenerv3.FilterChain
	for _, port := range distinct(matches, portOf, 0) {
		inPort := slices.DeleteFunc(slices.Clone(matches), func(m meshpassthrough.Match) bool {
			return portOf(&m) != 0 && portOf(&m) != port
		})
		for _, prefix := range distinct(inPort, prefixOf, netip.Prefix{}) {
			chains = append(chains, passthroughGroup{port, prefix}.chains(inPort)...)
			if len(chains) > maxPassthroughChains {
				return nil, false
			}
		}
	}
	return chains, true
}

// distinct returns the distinct values of matches, and another one, in their order.
func distinct[T comparable](matches []meshpassthrough.Match, of func(*meshpassthrough.Match) T, other T) []T {
	values := []T{other}
	for i := range matches {
		if value := of(&matches[i]); !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	return values
}

func portOf(m *meshpassthrough.Match) uint32 { return uint32(valueOr(m.Port, 0)) }

// prefixOf returns the addresses of a match, the zero prefix for a domain.
func prefixOf(m *meshpassthrough.Match) netip.Prefix {
	switch m.Type {
	case meshpassthrough.IP:
		ip := netip.MustParseAddr(m.Value)
		return netip.PrefixFrom(ip, ip.BitLen())
	case meshpassthrough.CIDR:
		return netip.MustParsePrefix(m.Value).Masked()
	}
	return netip.Prefix{}
}

// chains returns the chains of a group, for the matches whose port is that of the group
// or each port.
func (g passthroughGroup) chains(matches []meshpassthrough.Match) []*listenerv3.FilterChain {
	var names, hosts []string // of TLS, of plain HTTP
	var anything, tls, http bool
	for i := range matches {
		m := &matches[i]
		if p := prefixOf(m); p.IsValid() && (!g.prefixes.IsValid() || !p.Overlaps(g.prefixes) || p.Bits() > g.prefixes.Bits()) {
			continue
		}
		switch domain := m.Type == meshpassthrough.Domain; {
		case m.Speaks().IsHTTP() && domain:
			hosts = append(hosts, m.Value)
		case m.Speaks().IsHTTP():
			http = true
		case m.Speaks() == meshpassthrough.TLS && domain && m.Value != "*":
			names = append(names, m.Value)
		case m.Speaks() == meshpassthrough.TLS:
			tls = true
		default:
			anything = true
		}
	}
	var chains []*listenerv3.FilterChain
	forward := func(condition *listenerv3.FilterChainMatch) {
		chains = append(chains, &listenerv3.FilterChain{FilterChainMatch: condition, Filters: toOriginal(outboundPassthrough)})
	}
	if anything {
		forward(g.condition())
		return chains
	}
	if tls {
		condition := g.condition()
		condition.TransportProtocol = "tls"
		forward(condition)
	} else if len(names) > 0 {
		slices.Sort(names)
		condition := g.condition()
		condition.TransportProtocol, condition.ServerNames = "tls", slices.Compact(names)
		forward(condition)
	}
	plain := g.condition()
	plain.TransportProtocol, plain.ApplicationProtocols = "raw_buffer", []string{"http/1.1", "h2c"}
	switch {
	case http:
		forward(plain)
	case len(hosts) > 0:
		chains = append(chains, hostsChain(plain, hosts))
	}
	return chains
}

func (g passthroughGroup) condition() *listenerv3.FilterChainMatch {
	condition := &listenerv3.FilterChainMatch{}
	if g.port != 0 {
		condition.DestinationPort = wrapperspb.UInt32(g.port)
	}
	if g.prefixes.IsValid() {
		condition.PrefixRanges = []*corev3.CidrRange{{
			AddressPrefix: g.prefixes.Addr().String(), PrefixLen: wrapperspb.UInt32(uint32(g.prefixes.Bits())),
		}}
	}
	return condition
}

// hostsChain returns the chain of plain HTTP to the given domains.
func hostsChain(condition *listenerv3.FilterChainMatch, domains []string) *listenerv3.FilterChain {
	slices.Sort(domains)
	routes := &routev3.RouteConfiguration{
		IgnorePortInHostMatching: true,
		VirtualHosts: []*routev3.VirtualHost{{
			Name: "passthrough", Domains: slices.Compact(domains),
			Routes: []*routev3.Route{{
				Match: prefixMatch("/"),
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
		StreamIdleTimeout: durationpb.New(message.OutboundStreamIdleTimeout),
	}}).List()}
}
