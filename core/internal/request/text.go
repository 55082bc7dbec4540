package request

import (
	"strings"
	"sync"

	"github.com/meshmatch/meshmatch/core/internal/regex"
)

// text is a condition on a text.
type text struct {
	how   how
	value string // of wholly: the condition in the form of the match, "" for the form of the expression
	regex *expression
}

type how uint8

const (
	anything how = iota
	exactly
	startsWith
	below // the value or, by segment, a path below it
	wholly
)

// holds reports whether the whole text meets the condition.
func (t *text) holds(s string) bool {
	switch t.how {
	case exactly:
		return s == t.value
	case startsWith:
		return strings.HasPrefix(s, t.value)
	case below:
		return IsBelow(t.value, s)
	case wholly:
		return t.regex.whole().MatchString(s)
	}
	return true
}

// holdsForRun reports whether a header's value, or any trimmed run of its
// comma-separated elements, meets the condition.
func (t *text) holdsForRun(s string) bool {
	switch t.how {
	case exactly, startsWith:
		for i := 0; i+len(t.value) <= len(s); i++ {
			next := strings.Index(s[i:], t.value)
			if next < 0 {
				return false
			}
			i += next
			before, after := strings.TrimRight(s[:i], blanks), strings.TrimLeft(s[i+len(t.value):], blanks)
			if (before == "" || strings.HasSuffix(before, ",")) && (t.how == startsWith || after == "" || after[0] == ',') {
				return true
			}
		}
		return false
	case wholly:
		// A value ends in a space if the last line of cookie is empty.
		return t.regex.runs().MatchString(s) || strings.HasSuffix(s, " ") && t.holds(s)
	}
	return t.holds(s)
}

// String returns the condition in the form of the match: the type and the
// value.
func (t *text) String() string {
	switch t.how {
	case exactly:
		return "Exact " + t.value
	case startsWith:
		return "Prefix " + t.value
	case below:
		return "Prefix " + t.value + "/"
	case wholly:
		if t.value != "" {
			return t.value
		}
		return "RegularExpression " + t.regex.source
	}
	return "Present"
}

// TrimSlash returns a prefix without its trailing slash, which has no meaning
// (SPEC 7.2).
func TrimSlash(prefix string) string { return strings.TrimSuffix(prefix, "/") }

// IsBelow reports whether path is prefix or below it. The prefix must have no
// trailing slash (see [TrimSlash]).
func IsBelow(prefix, path string) bool {
	return strings.HasPrefix(path, prefix) && (len(path) == len(prefix) || path[len(prefix)] == '/')
}

// Expressions contains each regular expression of an inbound's conditions once.
// An expression is compiled when the first request needs it, because filters do
// not need the compiled form.
type Expressions map[string]*expression

type expression struct {
	source      string
	whole, runs func() regex.Matcher
}

// get returns an expression, which must have passed validation (core/conf).
func (e Expressions) get(source string) *expression {
	return e.once(source, func() *regex.Expr { return regex.MustParse(source) })
}

// authority returns the expression for authorities of an [AuthorityExpression].
func (e Expressions) authority(source string) *expression {
	return e.once("host "+source, func() *regex.Expr { return regex.MustParse(source).Authority() })
}

func (e Expressions) once(key string, parse func() *regex.Expr) *expression {
	known := e[key]
	if known == nil {
		parsed := sync.OnceValue(parse)
		known = &expression{
			source: key,
			whole:  sync.OnceValue(func() regex.Matcher { return parsed().Matcher() }),
			runs:   sync.OnceValue(func() regex.Matcher { return parsed().RunsMatcher() }),
		}
		e[key] = known
	}
	return known
}
