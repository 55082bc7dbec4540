package capability

import (
	"fmt"
	"math/bits"
	"strings"
)

// A Set is a set of capabilities.
type Set uint16

// The capabilities.
const (
	// DelayedConnect: a TCP proxy can wait for the first byte or the handshake of a client
	// before it connects upstream (TcpProxy.upstream_connect_mode).
	DelayedConnect Set = 1 << iota
	// HandshakeState: filter state can be set when the client's certificate is known (network
	// filter set_filter_state, on_downstream_tls_handshake). Routes compare it.
	HandshakeState
	// LogServices: OpenTelemetry access logs have the fields grpc_service, http_service and
	// log_name. Older releases have common_config, which is for gRPC only.
	LogServices
	// RouteRateLimits: local rate limits can be made for a route, inside the composite filter.
	RouteRateLimits
	// SeparateHeaderLines: routes compare each line of a header by itself, not all lines joined
	// by commas.
	SeparateHeaderLines
	// ByteExpressions: regular expressions compare bytes. In older releases they compare
	// characters, and a byte that is no part of one evades a dot or a class.
	ByteExpressions
	// API136 and the following ones: the types, fields and words that a release of the API added.
	API136
	API137
	API138
	API139
	API140

	end
)

// All is the set of [Newest].
const All = end - 1

// APIs are the capabilities of what each release added to the API.
const APIs = All &^ (API136 - 1)

// A capability is a row of the table.
type capability struct {
	Set
	// since are the releases that have the capability, in ascending order: each is the first
	// of its minor release. All that follow the last one have it too.
	since []Version
	// text describes the capability after "has no ...".
	text string
	// instead is what a client without the capability gets.
	instead string
}

// table has a row for each capability.
var table = []capability{
	{DelayedConnect, from(1, 37), "TCP proxy that waits for the client before it connects to the workload",
		"TCP permissions decide in the TLS handshake; what a handshake cannot express is denied"},
	{HandshakeState, from(1, 37), "filter state of the TLS handshake",
		"timeouts by client compare headers that the proxy writes itself"},
	{LogServices, from(1, 37), "OpenTelemetry logs over HTTP",
		"logs over gRPC in the older form; logs over HTTP are left out"},
	{RouteRateLimits, from(1, 38), "rate limits of requests in routes",
		"rate limits are in the listener, which an edit of them replaces; each filter chain counts by itself"},
	{SeparateHeaderLines, from(1, 39), "routes that compare each line of a header by itself",
		"a condition of a route, a timeout or a retry on a header compares all its lines, joined by commas"},
	{ByteExpressions, []Version{{1, 36, 10}, {1, 38, 4}, {1, 39, 1}}, "regular expressions that compare bytes",
		"an entry that allows by a regular expression on a header holds for no value with a byte outside ASCII; " +
			"permissions by tags with the value `*` deny a client with such a byte in a URI SAN; routes compare characters"},
	{API136, from(1, 36), "API of Envoy 1.36", "modifications of MeshProxyPatch that need it are not applied"},
	{API137, from(1, 37), "API of Envoy 1.37", "modifications of MeshProxyPatch that need it are not applied"},
	{API138, from(1, 38), "API of Envoy 1.38", "modifications of MeshProxyPatch that need it are not applied"},
	{API139, from(1, 39), "API of Envoy 1.39", "modifications of MeshProxyPatch that need it are not applied"},
	{API140, from(1, 40), "API of Envoy 1.40", "modifications of MeshProxyPatch that need it are not applied"},
}

func from(major, minor uint32) []Version { return []Version{{Major: major, Minor: minor}} }

// ForVersion returns the capabilities of a release of Envoy.
func ForVersion(v Version) (s Set) {
	for _, c := range table {
		if c.has(v) {
			s |= c.Set
		}
	}
	return s
}

// has reports whether a release has the capability.
func (c *capability) has(v Version) bool {
	for i, first := range c.since {
		if v.sameMinor(first) || i == len(c.since)-1 {
			return v.Compare(first) >= 0
		}
	}
	return false
}

// first returns the first releases that have the capability, such as "1.36.10, 1.38.4".
func (c *capability) first() string {
	list := make([]string, len(c.since))
	for i, v := range c.since {
		list[i] = strings.TrimSuffix(v.String(), ".0")
	}
	return strings.Join(list, ", ")
}

// API returns the capability of the types, fields and words that a release of the API added,
// such as "1.37".
func API(release string) Set {
	for i, name := range Releases[1:] {
		if name == release {
			return API136 << i
		}
	}
	panic("no release of the API: " + release)
}

// Has reports whether s contains all of o.
func (s Set) Has(o Set) bool { return s&o == o }

// A Lack is a capability that a client does not have.
type Lack struct {
	Capability string `json:"lacks"`
	Instead    string `json:"instead"`
}

// Missing returns the capabilities of a set that a client lacks, in the order of the table.
func (s Set) Missing() (list []Lack) {
	for _, c := range table {
		if s.Has(c.Set) {
			list = append(list, Lack{c.text, c.instead})
		}
	}
	return list
}

// Lack returns what a client without the capability lacks, for messages: such as "Envoy
// before 1.37 has no filter state of the TLS handshake".
func (s Set) Lack() string {
	for _, c := range table {
		if c.Set == s {
			return fmt.Sprintf("Envoy before %s has no %s", c.first(), c.text)
		}
	}
	return fmt.Sprintf("it needs Envoy %s", s.Release())
}

// String returns such as "0x1f (5 capabilities)".
func (s Set) String() string {
	return fmt.Sprintf("%#x (%d capabilities)", uint16(s), bits.OnesCount16(uint16(s)))
}

// Release returns the oldest release with all capabilities of the set, such as "1.38".
func (s Set) Release() string {
	for _, release := range Releases {
		if v, err := ParseVersion(release); err == nil && ForVersion(v).Has(s) {
			return release
		}
	}
	return strings.TrimSuffix(Newest.String(), ".0")
}
