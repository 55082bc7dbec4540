package naive

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	escapedSlash = regexp.MustCompile(`(?i)%2f|%5c|%2e|/\.?\.?;`)
	twoDots      = regexp.MustCompile(`(?i)^((\.|%2e){2}|\.\.;.*)$`)
	oneDot       = regexp.MustCompile(`(?i)^(\.|%2e|\.;.*)$`)
	slashesOnly  = regexp.MustCompile(`^//+$`)
	slashes      = regexp.MustCompile(`/+`)
	escaped      = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
)

// normalPath implements SPEC 7.2 and 11.2 step by step: an inbound compares the path
// without the query in normal form. It refuses an escaped slash or backslash in that form.
func normalPath(target string) (path string, refused bool) {
	path, _, _ = strings.Cut(target, "?")
	if !strings.HasPrefix(path, "/") {
		return path, false
	}
	if strings.Contains(path, "#") {
		return "", true
	}
	path = strings.ReplaceAll(path, `\`, "/")
	var kept []string
	for segment := range strings.SplitSeq(path[1:], "/") {
		// A dot segment leaves an empty segment. The next segment replaces it.
		if n := len(kept); n > 0 && kept[n-1] == dotSegment {
			kept = kept[:n-1]
		}
		switch {
		case twoDots.MatchString(segment):
			if len(kept) > 0 {
				kept = kept[:len(kept)-1]
			}
			kept = append(kept, dotSegment)
		case oneDot.MatchString(segment):
			kept = append(kept, dotSegment)
		case strings.Contains(segment, "%00"):
			return "", true
		default:
			kept = append(kept, normalSegment(segment))
		}
	}
	path = "/" + strings.ReplaceAll(strings.Join(kept, "/"), dotSegment, "")
	if slashesOnly.MatchString(path) {
		return "//", false // Envoy keeps two slashes
	}
	path = slashes.ReplaceAllString(path, "/")
	return path, escapedSlash.MatchString(path)
}

// normalSegment resolves the escapes that a segment does not need, and encodes the bytes
// that a path cannot contain.
func normalSegment(segment string) string {
	segment = escaped.ReplaceAllStringFunc(segment, func(escape string) string {
		var b byte
		_, _ = fmt.Sscanf(escape, "%%%02x", &b)
		if regexp.MustCompile(`^[A-Za-z0-9._~-]$`).MatchString(string(rune(b))) {
			return string(rune(b))
		}
		return escape
	})
	var encoded strings.Builder
	for _, b := range []byte(segment) {
		if b <= ' ' || b >= 0x7f || strings.ContainsRune("\"<>^`{|}", rune(b)) {
			fmt.Fprintf(&encoded, "%%%02X", b)
		} else {
			encoded.WriteByte(b)
		}
	}
	return encoded.String()
}

// dotSegment marks the place of a dot segment; no path contains it.
const dotSegment = "\x00"
