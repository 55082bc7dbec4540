package conf

import (
	"encoding/hex"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
)

// Validate checks that a request can have the path: a proxy normalizes paths before it
// compares them, so a path that is not in normal form never matches (SPEC 7.2). A
// regular expression must compile.
func (m *PathMatch) Validate(at *diag.At) {
	at = at.Field("value")
	switch {
	case m.Type == PathRegex:
		ValidateRegex(at, m.Value)
	case m.Type != PathExact && m.Type != PathPrefix: // reported at the type
	case !strings.HasPrefix(m.Value, "/"):
		at.Errorf(diag.BadPath, "", "a path must start with /")
	case strings.ContainsAny(m.Value, "?#"):
		at.Errorf(diag.BadPath, "paths are compared without the query", "a path must not contain ? or #")
	default:
		if what, hint := notNormal(m.Value); what != "" {
			at.Errorf(diag.ImpossibleMatch, hint, "no request has this path: %s", what)
		}
	}
}

// notNormal returns the reason why a path is not in normal form, or "" if it
// is.
func notNormal(path string) (what, hint string) {
	for segment := range strings.SplitSeq(path, "/") {
		if name, _, _ := strings.Cut(segment, ";"); name == "." || name == ".." {
			return "the segment " + segment + " is resolved before paths are compared", "leave it out"
		}
	}
	if strings.Contains(path, "//") {
		return "// is merged to / before paths are compared", "write one slash"
	}
	for i := range len(path) {
		switch c := path[i]; {
		case c >= 0x80:
			return "it has a character beyond ASCII", "write it percent-encoded"
		case c <= ' ' || c == 0x7f:
			return "it has a blank or a control character", "write it percent-encoded"
		case c == '\\':
			return "a backslash becomes a slash before paths are compared", "write a slash"
		case strings.IndexByte(escapedInPaths, c) >= 0:
			return "the character " + string(c) + " is percent-encoded before paths are compared", "write it percent-encoded"
		case c == '%':
			if what, hint := badEscape(path[i:]); what != "" {
				return what, hint
			}
		}
	}
	return "", ""
}

// escapedInPaths contains the printable characters that a proxy percent-encodes
// when it normalizes a path.
const escapedInPaths = "\"<>^`{|}"

func badEscape(rest string) (what, hint string) {
	decoded, err := hex.DecodeString(rest[1:min(3, len(rest))])
	if err != nil || len(decoded) == 0 {
		return "a percent sign is not followed by two hexadecimal digits", "write %25"
	}
	escape := strings.ToUpper(rest[:3])
	switch c := decoded[0]; {
	case escape == "%2F" || escape == "%5C":
		return "a request with an escaped slash or backslash is refused", "leave it out"
	case c < 0x80 && (isAlphanumeric(c) || strings.IndexByte("-._~", c) >= 0):
		return "the escape " + rest[:3] + " is resolved before paths are compared", "write " + string(c)
	}
	return "", ""
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// Validate checks that a proxy sees the headers as the client sent them, and that a
// request can have their values (SPEC 7.2).
func (m *Match) Validate(at *diag.At) {
	for i := range m.Headers {
		h, at := &m.Headers[i], at.Field("headers").Index(i)
		if name := strings.ToLower(string(h.Name)); proxyHeaders[name] || strings.HasPrefix(name, "x-envoy-") || strings.HasPrefix(name, ":") {
			at.Field("name").Errorf(diag.ImpossibleMatch, "compare another header", "the proxy writes, removes or interprets the header %q itself", string(h.Name))
		}
		if h.Value == nil || h.How() != HeaderExact && h.How() != HeaderPrefix {
			continue
		}
		switch value := *h.Value; {
		case strings.ContainsFunc(value, isControl):
			at.Field("value").Errorf(diag.ImpossibleMatch, "remove it", "no request has this value: it has a control character")
		case strings.TrimLeft(value, blanks) != value || h.How() == HeaderExact && strings.TrimRight(value, blanks) != value:
			at.Field("value").Errorf(diag.ImpossibleMatch, "remove them", "no request has this value: spaces at its ends are removed")
		}
	}
}

const blanks = " \t"

func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// proxyHeaders are the headers that a proxy writes, removes or interprets, so that it
// cannot compare the client's values.
var proxyHeaders = map[string]bool{
	"connection": true, "keep-alive": true, "proxy-connection": true, "te": true, "trailer": true, "transfer-encoding": true,
	"upgrade": true, "expect": true, "x-request-id": true, "x-forwarded-proto": true, "x-forwarded-client-cert": true,
}
