package conf

import (
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// Match is a condition on a request to an inbound. All given conditions must hold; an
// empty match holds for every request (SPEC 7.2).
//
//confgen:schema
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

// InKuma returns the matches as the proxies of Kuma compare them: a prefix of a SPIFFE ID is
// text. If there is no such prefix, it returns the list itself. It does not change the list.
func InKuma(matches []Match) []Match {
	var next []Match
	for i := range matches {
		id := matches[i].SpiffeID
		if id == nil || id.Type != SpiffeIDPrefix {
			continue
		}
		if next == nil {
			next = slices.Clone(matches)
		}
		next[i].SpiffeID = &SpiffeIDMatch{Type: SpiffeIDTextPrefix, Value: id.Value}
	}
	if next == nil {
		return matches
	}
	return next
}

// SpiffeIDMatchType determines how a SPIFFE ID is compared.
type SpiffeIDMatchType string

// The ways to compare a SPIFFE ID. Documents have Exact and Prefix, which is compared by path
// segment. An engine with the semantics of Kuma reads Prefix as SpiffeIDTextPrefix, which is
// compared as text (SPEC 7.2); it is written as Prefix.
const (
	SpiffeIDExact      SpiffeIDMatchType = "Exact"
	SpiffeIDPrefix     SpiffeIDMatchType = "Prefix"
	SpiffeIDTextPrefix SpiffeIDMatchType = "TextPrefix"
)

// Enum returns the allowed values.
func (SpiffeIDMatchType) Enum() []string { return Words(SpiffeIDExact, SpiffeIDPrefix) }

// EnumInGo returns the value that no document has: policies of a view may be applied again.
func (SpiffeIDMatchType) EnumInGo() []string { return Words(SpiffeIDTextPrefix) }

// IsPrefix reports whether an ID is compared with a prefix, by segment or as text.
func (t SpiffeIDMatchType) IsPrefix() bool { return t == SpiffeIDPrefix || t == SpiffeIDTextPrefix }

// String returns the word in documents.
func (t SpiffeIDMatchType) String() string {
	if t == SpiffeIDTextPrefix {
		return string(SpiffeIDPrefix)
	}
	return string(t)
}

// MarshalText returns the word in documents.
func (t SpiffeIDMatchType) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// SpiffeIDMatch is a condition on the client's SPIFFE ID.
//
//confgen:openapi {"allOf": [{"properties": {"value": {"pattern": "^spiffe://[a-z0-9._-]+(/.*)?$", "maxLength": 2048}}}]}
type SpiffeIDMatch struct {
	Type  SpiffeIDMatchType `json:"type"`
	Value string            `json:"value"`
}

// Validate checks the value against the SPIFFE ID standard. A prefix may end in a
// slash, and may consist of only a trust domain.
func (m *SpiffeIDMatch) Validate(at *diag.At) {
	if err := checkSpiffeID(m.Value, m.Type != SpiffeIDExact); err != nil {
		at.Field("value").Errorf(diag.BadSPIFFEID, "write spiffe://trust-domain/path", "bad SPIFFE ID %.80q: %v", m.Value, err)
	} else if strings.HasSuffix(m.Value, "/") {
		at.Field("value").If(diag.AsKuma).Errorf(diag.BadSPIFFEID, "write it without the slash, or the IDs that are meant by Exact", "a control plane of Kuma refuses a prefix that ends in a slash")
	}
}

// SNI is the server name that a client requests. It is compared as a whole and
// without regard to letter case, like a host name (RFC 6066). It is written as a
// string, or as {type: Exact, value: name}.
//
//confgen:openapi {"x-kubernetes-preserve-unknown-fields": true}
type SNI string

// DecodeAt reads both forms.
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

// Validate reports names that no client sends: a name has no port and no dot at the
// end, and is ASCII (RFC 6066).
func (n serverName) Validate(at *diag.At) {
	name := string(n)
	switch {
	case !isName(name):
		at.Errorf(diag.BadValue, "write a host name", "bad server name %q", name)
	case name[len(name)-1] == '.':
		at.Errorf(diag.BadValue, "leave out the dot at the end", "bad server name %q", name)
	}
}

// PathMatchType determines how the path of a request is compared.
type PathMatchType string

// The ways to compare a path, without its query: a prefix by segment, a regular
// expression (RE2) with the whole path.
const (
	PathExact  PathMatchType = "Exact"
	PathPrefix PathMatchType = "Prefix"
	PathRegex  PathMatchType = "RegularExpression"
)

// Enum returns the allowed values.
func (PathMatchType) Enum() []string { return Words(PathExact, PathPrefix, PathRegex) }

// PathMatch is a condition on a request's path.
type PathMatch struct {
	Type  PathMatchType `json:"type"`
	Value string        `json:"value"`
}

// Method is an HTTP method.
type Method string

// Enum returns the allowed values.
func (Method) Enum() []string {
	return []string{"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"}
}
