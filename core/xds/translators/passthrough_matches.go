package translators

import (
	"net/netip"
	"slices"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshmatch/meshmatch/core/kind/meshpassthrough"
)

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
func matchedChains(matches []meshpassthrough.Match, r resolver) ([]*listenerv3.FilterChain, bool) {
	var chains []*listenerv3.FilterChain
	for _, port := range distinct(matches, portOf, 0) {
		inPort := slices.DeleteFunc(slices.Clone(matches), func(m meshpassthrough.Match) bool {
			return portOf(&m) != 0 && portOf(&m) != port
		})
		for _, prefix := range distinct(inPort, prefixOf, netip.Prefix{}) {
			chains = append(chains, passthroughGroup{port, prefix}.chains(inPort, r)...)
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

// chains returns the chains of a group, for the matches with the port of the group or with
// every port.
func (g passthroughGroup) chains(matches []meshpassthrough.Match, r resolver) []*listenerv3.FilterChain {
	var names, hosts []string // of TLS, of plain HTTP
	var anything, tls, anyName, http bool
	for i := range matches {
		m := &matches[i]
		if p := prefixOf(m); p.IsValid() && (!g.prefixes.IsValid() || !p.Overlaps(g.prefixes) || p.Bits() > g.prefixes.Bits()) {
			continue
		}
		switch domain := m.Type == meshpassthrough.Domain; {
		case m.HasInnerWildcard(): // Envoy matches no server name and no host by it
		case m.Speaks().IsHTTP() && domain:
			hosts = append(hosts, m.Value)
		case m.Speaks().IsHTTP():
			http = true
		case m.Speaks() == meshpassthrough.TLS && domain && m.Value == "*":
			anyName = true
		case m.Speaks() == meshpassthrough.TLS && domain:
			names = append(names, m.Value)
		case m.Speaks() == meshpassthrough.TLS:
			tls = true
		default:
			anything = true
		}
	}
	var chains []*listenerv3.FilterChain
	forward := func(condition *listenerv3.FilterChainMatch) {
		chains = append(chains, &listenerv3.FilterChain{FilterChainMatch: condition, Filters: r.asItIs()})
	}
	if anything {
		forward(g.condition())
		return chains
	}
	condition := g.condition()
	condition.TransportProtocol = "tls"
	switch {
	case tls:
		forward(condition)
	case len(names) > 0 || anyName:
		if slices.Sort(names); !anyName {
			condition.ServerNames = slices.Compact(names)
		}
		chains = append(chains, &listenerv3.FilterChain{FilterChainMatch: condition, Filters: r.serverName()})
	}
	plain := g.condition()
	plain.TransportProtocol, plain.ApplicationProtocols = "raw_buffer", []string{"http/1.1", "h2c"}
	switch {
	case http:
		forward(plain)
	case len(hosts) > 0:
		chains = append(chains, &listenerv3.FilterChain{FilterChainMatch: plain, Filters: r.hosts(hosts)})
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
