package access

import (
	"regexp"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/regex"
)

// Subject is a part of a request that a proxy's filter compares.
type Subject struct{ variable variable }

// The parts of a request. Target is the path with its query; the [Space] of a question about
// it must have Queries.
var (
	ClientID   = Subject{variable{spiffeID, ""}}
	ServerName = Subject{variable{sni, ""}}
	Method     = Subject{variable{method, ""}}
	Target     = Subject{variable{path, ""}}
)

// ClientTag is the tag of a client with a key.
func ClientTag(key string) Subject { return Subject{variable{tag, key}} }

// HeaderOf is the header with a name. The authority has the name host.
func HeaderOf(name string) Subject { return Subject{variable{header, strings.ToLower(name)}} }

// Undetermined returns the requests that meet a condition which nothing in a request determines.
// Each name is one condition: it may hold or not, regardless of the other conditions.
func Undetermined(name string) *Requests {
	return Subject{variable{unknown, name}}.Present().As(UnknownCondition(name))
}

// fact is a condition on one part of a request.
type fact struct {
	variable variable
	how      how
	value    string // of matches: an expression in the syntax of package regexp
}

// Present returns the requests that have the part.
func (s Subject) Present() *Requests { return s.set(present, "") }

// Equals returns the requests whose part is a text.
func (s Subject) Equals(value string) *Requests {
	if s.byExpressions() {
		return s.Matches(regexp.QuoteMeta(regex.OneRuneEach(value)))
	}
	return s.set(exactly, value)
}

// Begins returns the requests whose part begins with a text.
func (s Subject) Begins(prefix string) *Requests {
	if s.byExpressions() {
		return s.Matches(regexp.QuoteMeta(regex.OneRuneEach(prefix)) + `(?s:.)*`)
	}
	return s.set(startsWith, prefix)
}

// Matches returns the requests whose part an expression matches as a whole. The expression is in
// the syntax of package regexp, must be valid, and its characters are bytes.
func (s Subject) Matches(expression string) *Requests { return s.set(matches, expression) }

// byExpressions reports whether all conditions on the part are expressions, because
// conditions of policies on it are.
func (s Subject) byExpressions() bool {
	return s.variable.part == path || s.variable == variable{header, "host"}
}

func (s Subject) set(how how, value string) *Requests {
	return &Requests{fact: &fact{s.variable, how, value}}
}

// fact returns the tests of a fact.
func (c *compiler) fact(f *fact) []test {
	t := test{variable: c.variable(f.variable.part, f.variable.name), how: f.how, value: f.value}
	if f.how != matches {
		return []test{t}
	}
	if value, ok := c.byValue(f.variable, f.value); ok {
		t.how, t.value = value.how, value.value
		return []test{t}
	}
	isPresent := test{variable: t.variable, how: present}
	t.value, t.expression = "", c.values(f.value)
	return []test{isPresent, t}
}

// Name returns the name of the part: spiffeId, sni, method, path (with the query), or header and
// tag with their own name.
func (s Subject) Name() (part, name string) {
	return [...]string{spiffeID: "spiffeId", tag: "tag", sni: "sni", method: "method", path: "path", header: "header", unknown: "unknown"}[s.variable.part], s.variable.name
}
