package request

import (
	"encoding/hex"
	"slices"
	"strings"
)

// NormalizePath returns the path of a request target, without the query, in the normal form
// that an HTTP inbound compares (SPEC 11.2). It is the form of Envoy's normalize_path and
// merge_slashes: dot segments are resolved, backslashes become slashes, and slashes are
// merged. Escapes of letters, digits and -._~ are decoded, and characters that a URI cannot
// contain are percent-encoded. If ok is false, an inbound that compares paths refuses the
// request: the normal form has an escaped slash or backslash, or parameters of a segment
// that is empty, . or .., which the workload may leave out; or the path has a fragment or a
// zero byte, and then path is "".
func NormalizePath(target string) (path string, ok bool) {
	path, _, _ = strings.Cut(target, "?")
	if path == "" || path[0] != '/' || isNormal(path) {
		return path, true
	}
	if strings.Contains(path, "#") {
		return "", false
	}
	if path, ok = resolveDots(strings.ReplaceAll(path, `\`, "/")); !ok {
		return "", false
	}
	path = mergeSlashes(path)
	return path, !hasEscape(path, "%2F", "%5C", "%2E") && !hasDotParameters(path)
}

// hasDotParameters reports whether a segment has parameters and is empty, . or .. without them:
// a workload that ignores parameters takes it for a dot segment.
func hasDotParameters(path string) bool {
	for segment := range strings.SplitSeq(path, "/") {
		if name, _, parameters := strings.Cut(segment, ";"); parameters && (name == "" || name == "." || name == "..") {
			return true
		}
	}
	return false
}

// isNormal reports whether a path is in normal form. Most paths are, and then
// need no memory.
func isNormal(path string) bool {
	for i := range len(path) {
		switch c := path[i]; {
		case c == '%', !passes(c):
			return false
		case c == '/' && i+1 < len(path) && (path[i+1] == '/' || path[i+1] == '.' || path[i+1] == ';'):
			return false
		}
	}
	return true
}

// passes reports whether a path may contain a byte unescaped.
func passes(c byte) bool {
	return c > ' ' && c < 0x7f && strings.IndexByte("\"#<>?\\^`{|}", c) < 0
}

func hasEscape(path string, escapes ...string) bool {
	upper := strings.ToUpper(path)
	return slices.ContainsFunc(escapes, func(escape string) bool { return strings.Contains(upper, escape) })
}

// escape percent-encodes the bytes that a path must not contain and decodes
// unnecessary escapes. A percent sign that begins no escape is kept, unless it
// would begin an escape in the result.
func escape(segment string) string {
	const digits = "0123456789ABCDEF"
	var out []byte
	var stray []int // percent signs of out that begin no escape
	for i := 0; i < len(segment); i++ {
		c := segment[i]
		switch {
		case c == '%':
			decoded, ok := hexadecimal(segment[i+1:])
			switch {
			case !ok:
				stray = append(stray, len(out))
				out = append(out, c)
				continue
			case unreserved(decoded):
				out = append(out, decoded)
			default:
				out = append(out, segment[i:i+3]...)
			}
			i += 2
		case passes(c):
			out = append(out, c)
		default:
			out = append(out, '%', digits[c>>4], digits[c&15])
		}
	}
	if len(stray) == 0 {
		return string(out)
	}
	// What follows a stray percent sign is no percent sign if it is an escape now, so an
	// insertion changes no other one.
	escaped, done := make([]byte, 0, len(out)+2*len(stray)), 0
	for _, i := range stray {
		escaped, done = append(escaped, out[done:i+1]...), i+1
		if _, ok := hexadecimal(string(out[i+1 : min(i+3, len(out))])); ok {
			escaped = append(escaped, '2', '5')
		}
	}
	return string(append(escaped, out[done:]...))
}

// hexadecimal returns the byte of the two hexadecimal digits at the start of a text, or
// false if there are none.
func hexadecimal(text string) (byte, bool) {
	decoded, err := hex.DecodeString(text[:min(2, len(text))])
	if err != nil || len(decoded) == 0 {
		return 0, false
	}
	return decoded[0], true
}

func unreserved(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || strings.IndexByte("-._~", c) >= 0
}

// resolveDots removes dot segments, for .. also the preceding segment, and
// escapes the other segments. The preceding segment may be empty. If ok is
// false, a segment has a zero byte.
func resolveDots(path string) (resolved string, ok bool) {
	var segments []string
	rest := strings.Split(path[1:], "/")
	for i, segment := range rest {
		last := i == len(rest)-1
		switch dots(segment) {
		case "..":
			segments = segments[:max(len(segments)-1, 0)]
			fallthrough
		case ".":
			if last { // the path then ends in a slash
				segments = append(segments, "")
			}
		default:
			if strings.Contains(segment, "\x00") || hasEscape(segment, "%00") {
				return "", false
			}
			segments = append(segments, escape(segment))
		}
	}
	return "/" + strings.Join(segments, "/"), true
}

// dots returns the dots of a dot segment, and another text for other segments.
// The dots may be escaped, or have parameters after a semicolon, but not both.
func dots(segment string) string {
	name, _, parameters := strings.Cut(segment, ";")
	if parameters {
		return name
	}
	if !strings.Contains(segment, "%") {
		return segment
	}
	return escapedDots.Replace(segment)
}

var escapedDots = strings.NewReplacer("%2e", ".", "%2E", ".")

// mergeSlashes merges adjacent slashes. Like Envoy, it keeps two slashes of a
// path that has only slashes.
func mergeSlashes(path string) string {
	if len(path) > 1 && strings.Trim(path, "/") == "" {
		return "//"
	}
	var b strings.Builder
	for i := range len(path) {
		if path[i] != '/' || i == 0 || path[i-1] != '/' {
			b.WriteByte(path[i])
		}
	}
	return b.String()
}
