package permission

import (
	"iter"
	"regexp"
	"strings"
)

// text is a condition on a text.
type text struct {
	how   how
	value string
	regex *regexp.Regexp
}

type how uint8

const (
	anything how = iota
	exactly
	startsWith
	below // the value or, by segment, what lies below it
	wholly
)

func (t *text) holds(s string) bool {
	switch t.how {
	case exactly:
		return s == t.value
	case startsWith:
		return strings.HasPrefix(s, t.value)
	case below:
		return isBelow(t.value, s)
	case wholly:
		return t.regex.MatchString(s)
	}
	return true
}

// Segments returns a prefix without its last slash, which has no meaning
// (SPEC 7.2): it and what follows it after a slash match.
func Segments(prefix string) string { return strings.TrimSuffix(prefix, "/") }

// Prefixes returns the prefixes that match a SPIFFE ID, as [Segments] returns
// them: the ID and what it lies below, the shortest first, up to a length.
func Prefixes(id string, longest int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := len("spiffe://"); i <= len(id) && i <= longest; i++ {
			if (i == len(id) || id[i] == '/') && !yield(id[:i]) {
				return
			}
		}
	}
}

// isBelow reports whether path is prefix, which comes from [Segments], or lies
// below it.
func isBelow(prefix, path string) bool {
	return strings.HasPrefix(path, prefix) && (len(path) == len(prefix) || path[len(prefix)] == '/')
}

// expressions compiles each regular expression of an inbound once.
type expressions map[string]*regexp.Regexp

// whole returns the expression anchored on both sides. It must have passed
// validation (core/conf).
func (e expressions) whole(expression string) *regexp.Regexp {
	re := e[expression]
	if re == nil {
		re = regexp.MustCompile(`\A(?:` + expression + `)\z`)
		e[expression] = re
	}
	return re
}
