package meshpassthrough

import "github.com/meshmatch/meshmatch/core/conf"

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen

// Conf is what a MeshPassthrough sets for a proxy.
//
//confgen:conf
type Conf struct {
	// PassthroughMode is None if it is not set.
	PassthroughMode *Mode `json:"passthroughMode,omitzero"`
	// AppendMatch is the destinations of mode Matched; each policy adds its
	// own after those of lower priority.
	AppendMatch []Match `json:"appendMatch,omitzero"`
}

// Mode is which destinations outside of the mesh can be reached.
type Mode string

// The modes.
const (
	All     Mode = "All"
	Matched Mode = "Matched"
	None    Mode = "None"
)

// Enum returns the words.
func (Mode) Enum() []string { return conf.Words(All, Matched, None) }

// Match is destinations outside of the mesh.
type Match struct {
	Type  MatchType `json:"type"`
	Value string    `json:"value"`
	// Port is every port if it is not set.
	Port *conf.Port `json:"port,omitzero"`
	// Protocol is tcp by default.
	Protocol *Protocol `json:"protocol,omitzero"`
}

// SetDefaults sets the protocol.
func (m *Match) SetDefaults() { conf.Default(&m.Protocol, TCP) }

// Speaks returns the protocol, tcp if it is left out.
func (m *Match) Speaks() Protocol {
	if m.Protocol == nil {
		return TCP
	}
	return *m.Protocol
}

// MatchType is what the value of a [Match] is.
type MatchType string

// The types of matches. A domain may be *.example.com, or * for every one.
const (
	Domain MatchType = "Domain"
	IP     MatchType = "IP"
	CIDR   MatchType = "CIDR"
)

// Enum returns the words.
func (MatchType) Enum() []string { return conf.Words(Domain, IP, CIDR) }

// Protocol is what is spoken with a destination.
type Protocol string

// The protocols.
const (
	TCP   Protocol = "tcp"
	TLS   Protocol = "tls"
	GRPC  Protocol = "grpc"
	HTTP  Protocol = "http"
	HTTP2 Protocol = "http2"
	MySQL Protocol = "mysql"
)

// Enum returns the words.
func (Protocol) Enum() []string { return conf.Words(TCP, TLS, GRPC, HTTP, HTTP2, MySQL) }

// IsHTTP reports whether requests are seen, and not only connections.
func (p Protocol) IsHTTP() bool { return p == HTTP || p == HTTP2 || p == GRPC }
