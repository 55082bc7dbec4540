package meshpassthrough

import "github.com/meshmatch/meshmatch/core/conf"

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen

// Conf contains the settings of a MeshPassthrough for a proxy.
//
//confgen:conf schema
type Conf struct {
	// PassthroughMode is None if it is nil.
	PassthroughMode *Mode `json:"passthroughMode,omitzero"`
	// AppendMatch contains the destinations of mode Matched; each policy appends its
	// destinations after the destinations of lower priority.
	AppendMatch []Match `json:"appendMatch,omitzero"`
}

// Mode determines which destinations outside the mesh can be reached.
type Mode string

// The modes.
const (
	All     Mode = "All"
	Matched Mode = "Matched"
	None    Mode = "None"
)

// Enum returns the allowed values.
func (Mode) Enum() []string { return conf.Words(All, Matched, None) }

// Match selects one or more destinations outside the mesh.
//
//confgen:openapi {"allOf": [{"anyOf": [{"not": {"required": ["protocol"], "properties": {"protocol": {"enum": ["mysql"]}}}}, {"required": ["port"]}]}, {"anyOf": [{"not": {"properties": {"type": {"enum": ["Domain"]}}}}, {"required": ["protocol"], "properties": {"protocol": {"enum": ["tls", "grpc", "http", "http2"]}}}]}, {"anyOf": [{"not": {"properties": {"type": {"enum": ["IP"]}}}}, {"properties": {"value": {"pattern": "^(((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\\.){3}(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])|.*:.*)$"}}}]}, {"anyOf": [{"not": {"properties": {"type": {"enum": ["CIDR"]}}}}, {"properties": {"value": {"pattern": "^[0-9a-fA-F.:]+/[0-9]{1,3}$"}}}]}, {"anyOf": [{"not": {"properties": {"type": {"enum": ["Domain"]}}}}, {"properties": {"value": {"pattern": "^(\\*|(\\*\\.)*[A-Za-z0-9_][-A-Za-z0-9_.]*)$"}}}]}]}
type Match struct {
	Type  MatchType `json:"type"`
	Value string    `json:"value"`
	// Port is every port if it is nil.
	Port *conf.Port `json:"port,omitzero"`
	// Protocol is tcp by default.
	Protocol *Protocol `json:"protocol,omitzero"`
}

// SetDefaults sets the protocol.
func (m *Match) SetDefaults() { conf.Default(&m.Protocol, TCP) }

// Speaks returns the protocol, which is tcp if it is absent.
func (m *Match) Speaks() Protocol {
	if m.Protocol == nil {
		return TCP
	}
	return *m.Protocol
}

// MatchType is the type of the value of a [Match].
type MatchType string

// The types of matches. A domain may be *.example.com, or * for every domain.
const (
	Domain MatchType = "Domain"
	IP     MatchType = "IP"
	CIDR   MatchType = "CIDR"
)

// Enum returns the allowed values.
func (MatchType) Enum() []string { return conf.Words(Domain, IP, CIDR) }

// Protocol is the protocol of a destination.
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

// Enum returns the allowed values.
func (Protocol) Enum() []string { return conf.Words(TCP, TLS, GRPC, HTTP, HTTP2, MySQL) }

// IsHTTP reports whether the proxy sees requests, not only connections.
func (p Protocol) IsHTTP() bool { return p == HTTP || p == HTTP2 || p == GRPC }
