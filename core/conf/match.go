package conf

import (
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/strict"
)

// Match is a condition on a request to an inbound; all that is given must
// hold, and nothing given holds for every request (SPEC 7.2).
type Match struct {
	SpiffeID *SpiffeIDMatch `json:"spiffeId,omitzero" alias:"spiffeID"`
	SNI      *SNI           `json:"sni,omitzero"`
	Path     *PathMatch     `json:"path,omitzero"`
	Method   *Method        `json:"method,omitzero"`
	Headers  []HeaderMatch  `json:"headers,omitzero"`
}

// Empty reports whether the match has no condition.
func (m *Match) Empty() bool {
	return m.SpiffeID == nil && m.SNI == nil && m.Path == nil && m.Method == nil && len(m.Headers) == 0
}

// SpiffeIDMatchType is how a SPIFFE ID is compared.
type SpiffeIDMatchType string

// The ways to compare a SPIFFE ID. Prefix is by path segment.
const (
	SpiffeIDExact  SpiffeIDMatchType = "Exact"
	SpiffeIDPrefix SpiffeIDMatchType = "Prefix"
)

// Enum returns the words.
func (SpiffeIDMatchType) Enum() []string { return Words(SpiffeIDExact, SpiffeIDPrefix) }

// SpiffeIDMatch is a condition on the client's SPIFFE ID.
type SpiffeIDMatch struct {
	Type  SpiffeIDMatchType `json:"type"`
	Value string            `json:"value"`
}

// Validate checks the value against the SPIFFE ID standard; a prefix may end
// in a slash and may be a trust domain alone.
func (m *SpiffeIDMatch) Validate(at *diag.At) {
	if err := checkSpiffeID(m.Value, m.Type != SpiffeIDExact); err != nil {
		at.Field("value").Errorf("write spiffe://trust-domain/path", "bad SPIFFE ID %.80q: %v", m.Value, err)
	}
}

// SNI is the server name that a client asks for, compared whole and in any
// letter case, as host names have none (RFC 6066). It is written as a string, or
// as {type: Exact, value: name}.
type SNI string

// DecodeAt reads both spellings.
func (s *SNI) DecodeAt(in *strict.Value) {
	var long struct {
		Type  *sniMatchType `json:"type,omitzero"`
		Value serverName    `json:"value"`
	}
	if in.Kind() == strict.Mapping {
		strict.Decode(in, &long)
	} else {
		strict.Decode(in, &long.Value)
	}
	*s = SNI(long.Value)
}

type sniMatchType string

func (sniMatchType) Enum() []string { return []string{"Exact"} }

type serverName string

// Validate refuses what no client sends: names have no port and no dot at the
// end, and are ASCII (RFC 6066).
func (n serverName) Validate(at *diag.At) {
	name := string(n)
	switch {
	case !isName(name):
		at.Errorf("write a host name", "bad server name %q", name)
	case name[len(name)-1] == '.':
		at.Errorf("leave out the dot at the end", "bad server name %q", name)
	}
}

// PathMatchType is how a request's path is compared.
type PathMatchType string

// The ways to compare a path: without the query, prefixes by segment, regular
// expressions (RE2) to the whole.
const (
	PathExact  PathMatchType = "Exact"
	PathPrefix PathMatchType = "Prefix"
	PathRegex  PathMatchType = "RegularExpression"
)

// Enum returns the words.
func (PathMatchType) Enum() []string { return Words(PathExact, PathPrefix, PathRegex) }

// PathMatch is a condition on a request's path.
type PathMatch struct {
	Type  PathMatchType `json:"type"`
	Value string        `json:"value"`
}

// Method is an HTTP method.
type Method string

// Enum returns the words.
func (Method) Enum() []string {
	return []string{"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"}
}
