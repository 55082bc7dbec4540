package rbac

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/dump"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/regex"
)

// pattern is a string matcher.
type pattern struct {
	how    how
	value  string
	parsed *regex.Expr // of isExpression
	// kind and text are how the matcher is written.
	kind, text string
}

type how uint8

const (
	isExact how = iota
	isPrefix
	isExpression
)

var errMatcher = errors.New("a string matcher that is not known")

// maxExpression is the maximum length of a regular expression in bytes.
const maxExpression = 64 << 10

// patternOf reads a string matcher of either API of Envoy. The error is about one that cannot be
// compared.
func patternOf(m dump.Object) (pattern, error) {
	if m.Beside("exact", "prefix", "suffix", "contains", "safe_regex", "ignore_case") != "" {
		return pattern{}, errMatcher
	}
	fold := m.Bool("ignore_case")
	p, err := patternIn(m, fold)
	for field, kind := range map[string]string{"exact": Exact, "prefix": StringPrefix, "suffix": Suffix, "contains": Contains} {
		if m.Has(field) && !fold {
			p.kind, p.text = kind, m.Text(field)
		}
	}
	return p, err
}

func patternIn(m dump.Object, fold bool) (pattern, error) {
	switch {
	case m.Has("exact") && !fold:
		return pattern{how: isExact, value: m.Text("exact")}, nil
	case m.Has("prefix") && !fold:
		return pattern{how: isPrefix, value: m.Text("prefix")}, nil
	case m.Has("exact"):
		return expressionOf(folded(m.Text("exact")))
	case m.Has("prefix"):
		return expressionOf(folded(m.Text("prefix")) + `(?s:.*)`)
	case m.Has("suffix"):
		return expressionOf(`(?s:.*)` + quoted(m.Text("suffix"), fold))
	case m.Has("contains"):
		return expressionOf(`(?s:.*)` + quoted(m.Text("contains"), fold) + `(?s:.*)`)
	case m.Has("safe_regex"):
		return expressionOf(withoutAnyByte(m.Object("safe_regex").Text("regex")))
	}
	return pattern{}, errMatcher
}

func expressionOf(source string) (pattern, error) {
	if len(source) > maxExpression {
		return pattern{}, fmt.Errorf("a regular expression of %d bytes exceeds the limit of %d", len(source), maxExpression)
	}
	e, err := regex.Parse(source)
	if err == nil {
		err = regex.Check(source)
	}
	if err != nil {
		return pattern{}, fmt.Errorf("the regular expression %q: %w", source, err)
	}
	return pattern{how: isExpression, value: source, parsed: e, kind: RegularExpression, text: source}, nil
}

// withoutAnyByte replaces \C, which package regexp does not have.
func withoutAnyByte(source string) string {
	var out strings.Builder
	for i := 0; i < len(source); i++ {
		if source[i] != '\\' || i+1 == len(source) {
			out.WriteByte(source[i])
			continue
		}
		if i++; source[i] == 'C' {
			out.WriteString(`(?s:.)`)
		} else {
			out.WriteString(source[i-1 : i+1])
		}
	}
	return out.String()
}

func quoted(text string, fold bool) string {
	if fold {
		return folded(text)
	}
	return regexp.QuoteMeta(text)
}

// folded returns the expression of a text in any case of ASCII letters.
func folded(text string) string {
	var out strings.Builder
	for _, c := range text {
		lower, upper := strings.ToLower(string(c)), strings.ToUpper(string(c))
		if c < utf8.RuneSelf && lower != upper {
			out.WriteString("[" + upper + lower + "]")
		} else {
			out.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	return out.String()
}

func (p pattern) String() string {
	switch p.how {
	case isExact:
		return p.value
	case isPrefix:
		return p.value + "*"
	}
	return "~" + p.value
}

// expression returns the pattern as an expression over bytes.
func (p pattern) expression() string {
	switch p.how {
	case isExact:
		return regexp.QuoteMeta(regex.OneRuneEach(p.value))
	case isPrefix:
		return regexp.QuoteMeta(regex.OneRuneEach(p.value)) + `(?s:.)*`
	}
	return p.parsed.BytewiseWhole()
}

func (p pattern) holds(text string) bool {
	switch p.how {
	case isExact:
		return text == p.value
	case isPrefix:
		return strings.HasPrefix(text, p.value)
	}
	return p.parsed.Matcher().MatchString(text)
}

// requestsFor returns the requests whose part meets the pattern.
func (p pattern) requestsFor(s access.Subject) *access.Requests { return p.requests(s).As(p.about(s)) }

func (p pattern) requests(s access.Subject) *access.Requests {
	switch p.how {
	case isExact:
		return s.Equals(p.value)
	case isPrefix:
		return s.Begins(p.value)
	}
	return s.Matches(p.expression())
}

// path returns the requests whose path without the query meets the pattern.
func (p pattern) path() *access.Requests {
	source := `(?:\?(?s:.)*)?`
	switch p.how {
	case isExact:
		source = p.expression() + source
	case isPrefix:
		source = regexp.QuoteMeta(regex.OneRuneEach(p.value)) + `[^?]*` + source
	default:
		source = p.parsed.BytewiseTarget()
	}
	return access.Target.Matches(source).As(Comparison{Part: "path", Type: p.kind, Value: p.text})
}

// IDs returns the clients whose SPIFFE ID a regular expression of Envoy matches.
func IDs(source string) (*access.Requests, error) {
	p, err := expressionOf(withoutAnyByte(source))
	if err != nil {
		return nil, err
	}
	return p.requestsFor(access.ClientID), nil
}
