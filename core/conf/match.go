package conf

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"go.yaml.in/yaml/v3"

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

// SpiffeIDMatchType tells how a SPIFFE ID is compared.
type SpiffeIDMatchType string

// The ways to compare a SPIFFE ID. Prefix is by path segment.
const (
	SpiffeIDExact  SpiffeIDMatchType = "Exact"
	SpiffeIDPrefix SpiffeIDMatchType = "Prefix"
)

// Enum returns the words.
func (SpiffeIDMatchType) Enum() []string {
	return []string{string(SpiffeIDExact), string(SpiffeIDPrefix)}
}

// SpiffeIDMatch is a condition on the client's SPIFFE ID.
type SpiffeIDMatch struct {
	Type  SpiffeIDMatchType `json:"type"`
	Value string            `json:"value"`
}

var (
	trustDomain   = regexp.MustCompile(`^[a-z0-9._-]+$`)
	spiffeSegment = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)
)

// Validate checks the value against the SPIFFE ID standard; a prefix may end
// in a slash and may be a trust domain alone.
func (m *SpiffeIDMatch) Validate(at *strict.At) {
	if err := validateSpiffeID(m.Value, m.Type != SpiffeIDExact); err != "" {
		at.Field("value").Errorf("write spiffe://trust-domain/path", "bad SPIFFE ID %.80q: %s", m.Value, err)
	}
}

func validateSpiffeID(id string, prefix bool) string {
	rest, ok := strings.CutPrefix(id, "spiffe://")
	if !ok {
		return "it must start with spiffe://"
	}
	if len(id) > 2048 {
		return "it is longer than 2048 bytes"
	}
	if prefix {
		rest = strings.TrimSuffix(rest, "/")
	}
	domain, path, hasPath := strings.Cut(rest, "/")
	switch {
	case !trustDomain.MatchString(domain):
		return "the trust domain has lower-case letters, digits, '.', '-' and '_' only"
	case !hasPath:
		return ""
	}
	for _, segment := range strings.Split(path, "/") {
		switch {
		case segment == "":
			return "a path segment is empty"
		case segment == "." || segment == "..":
			return fmt.Sprintf("the path segment %q is not allowed", segment)
		case !spiffeSegment.MatchString(segment):
			return fmt.Sprintf("the path segment %q has a character other than letters, digits, '.', '-' and '_'", segment)
		}
	}
	return ""
}

// SNI is the server name that a client asks for, compared whole and in any
// letter case, as host names have none (RFC 6066). It is written as a string, or
// as {type: Exact, value: name}.
type SNI string

// DecodeAt reads both spellings.
func (s *SNI) DecodeAt(at *strict.At) {
	var long struct {
		Type  *sniMatchType `json:"type,omitzero"`
		Value serverName    `json:"value"`
	}
	if at.Node().Kind == yaml.MappingNode {
		strict.Decode(at, &long)
	} else {
		strict.Decode(at, &long.Value)
	}
	*s = SNI(long.Value)
}

type sniMatchType string

func (sniMatchType) Enum() []string { return []string{"Exact"} }

type serverName string

// Validate refuses what no client sends: names have no port and no dot at the
// end, and are ASCII (RFC 6066).
func (n serverName) Validate(at *strict.At) {
	name := string(n)
	switch {
	case name == "" || strings.ContainsFunc(name, func(r rune) bool { return !strings.ContainsRune(nameCharacters, r) }):
		at.Errorf("write a host name", "bad server name %q", name)
	case name[len(name)-1] == '.':
		at.Errorf("leave out the dot at the end", "bad server name %q", name)
	}
}

const nameCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

// PathMatchType tells how a request's path is compared.
type PathMatchType string

// The ways to compare a path: without the query, prefixes by segment, regular
// expressions (RE2) to the whole.
const (
	PathExact  PathMatchType = "Exact"
	PathPrefix PathMatchType = "Prefix"
	PathRegex  PathMatchType = "RegularExpression"
)

// Enum returns the words.
func (PathMatchType) Enum() []string {
	return []string{string(PathExact), string(PathPrefix), string(PathRegex)}
}

// PathMatch is a condition on a request's path.
type PathMatch struct {
	Type  PathMatchType `json:"type"`
	Value string        `json:"value"`
}

// Validate checks that a path starts with a slash and has no query, and that
// a regular expression compiles.
func (m *PathMatch) Validate(at *strict.At) {
	switch {
	case m.Type == PathRegex:
		ValidateRegex(at.Field("value"), m.Value)
	case m.Type != PathExact && m.Type != PathPrefix: // reported where it stands
	case !strings.HasPrefix(m.Value, "/"):
		at.Field("value").Errorf("", "a path must start with /")
	case strings.ContainsAny(m.Value, "?#"):
		at.Field("value").Errorf("paths are compared without the query", "a path must not contain ? or #")
	}
}

// Method is an HTTP method.
type Method string

// Enum returns the words.
func (Method) Enum() []string {
	return []string{"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"}
}

// maxRegex is the longest regular expression, in bytes: the Gateway API's limit.
// Longer ones can take seconds to compile.
const maxRegex = 1024

// ValidateRegex checks that an expression is one that RE2 compiles, alone and
// in a group: whoever compares it to the whole text puts it into one, which a
// \Q without \E would not end.
func ValidateRegex(at *strict.At, expression string) {
	var bad *syntax.Error
	if len(expression) > maxRegex {
		at.Errorf("", "a regular expression must not be longer than %d bytes", maxRegex)
	} else if _, err := regexp.Compile(expression); err != nil {
		at.Errorf("write it in RE2's syntax", "bad regular expression: %v", err)
	} else if _, err := syntax.Parse(`\A(?:`+expression+`)\z`, syntax.Perl); errors.As(err, &bad) {
		at.Errorf(`end \Q with \E`, "bad regular expression: it can not stand in a group: %s", bad.Code)
	}
}
