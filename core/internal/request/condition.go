package request

import (
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/regex"
)

// ValueScope determines which part of a header's value must meet a condition (SPEC
// 7.2).
type ValueScope uint8

// The scopes. An entry that denies also holds for parts of a value, so that a second
// header line or element hides nothing. Its regular expressions hold for values with a
// byte outside ASCII, so that no spelling of a character evades it. Never use
// Denial for an entry that allows: a request with such a byte would be allowed.
const (
	Whole  ValueScope = iota // the whole value
	Runs                     // any run of its comma-separated elements
	Denial                   // any run, and any value with a byte outside ASCII
)

// Condition contains the conditions of a match other than the SPIFFE ID. All of
// them must hold; a nil Condition always holds. It is immutable.
type Condition struct {
	sni     string // "": no condition
	method  string // "": no condition
	path    *text
	headers []header
	scope   ValueScope
}

type header struct {
	name   string // in lower case
	absent bool
	value  text
}

// NewCondition compiles a match. It returns nil if the match has no condition
// except the SPIFFE ID.
func NewCondition(m *conf.Match, scope ValueScope, known Expressions) *Condition {
	if m.SNI == nil && !NeedsHTTP(m) {
		return nil
	}
	c := &Condition{scope: scope}
	if m.SNI != nil {
		c.sni = string(*m.SNI)
	}
	if m.Method != nil {
		c.method = string(*m.Method)
	}
	if m.Path != nil {
		c.path = pathText(m.Path, known)
	}
	for i := range m.Headers {
		c.headers = append(c.headers, newHeader(&m.Headers[i], known))
	}
	return c
}

// NeedsHTTP reports whether a match has conditions that a TCP inbound cannot
// see.
func NeedsHTTP(m *conf.Match) bool { return m.Path != nil || m.Method != nil || len(m.Headers) > 0 }

func pathText(p *conf.PathMatch, known Expressions) *text {
	switch p.Type {
	case conf.PathRegex:
		return &text{how: wholly, regex: known.get(p.Value)}
	case conf.PathPrefix:
		return &text{how: below, value: TrimSlash(p.Value)}
	}
	return &text{how: exactly, value: p.Value}
}

func newHeader(h *conf.HeaderMatch, known Expressions) header {
	c := header{name: strings.ToLower(string(h.Name))}
	if c.name == "host" && h.Value != nil {
		c.value = text{how: wholly, value: string(h.How()) + " " + *h.Value, regex: known.authority(AuthorityExpression(h))}
		return c
	}
	switch h.How() {
	case conf.HeaderAbsent:
		c.absent = true
	case conf.HeaderPresent:
		c.value.how = anything
	case conf.HeaderPrefix:
		c.value = text{how: startsWith, value: *h.Value}
	case conf.HeaderRegex:
		c.value = text{how: wholly, regex: known.get(*h.Value)}
	default:
		c.value = text{how: exactly, value: *h.Value}
	}
	return c
}

// Holds reports whether a request meets the condition.
func (c *Condition) Holds(r *Seen) bool {
	if c == nil {
		return true
	}
	if !c.sniHolds(r) || !c.methodHolds(r) || !c.pathHolds(r) {
		return false
	}
	for i := range c.headers {
		if !c.headerHolds(i, r) {
			return false
		}
	}
	return true
}

// Failure is a part of a condition that a request does not meet.
type Failure struct {
	Field string // of the match: sni, path, method, headers[0]
	Want  string // in the form of the match
	Got   string // of the request; "" if it has none
}

// String returns the field, the condition and the value in the request.
func (f Failure) String() string {
	if f.Got == "" {
		return fmt.Sprintf("%s: want %s, the request has none", f.Field, f.Want)
	}
	return fmt.Sprintf("%s: want %s, the request has %s", f.Field, f.Want, f.Got)
}

// Failed returns the parts of the condition that a request does not meet, in
// the order of the fields of a match.
func (c *Condition) Failed(r *Seen) []Failure {
	if c == nil {
		return nil
	}
	var out []Failure
	if !c.sniHolds(r) {
		out = append(out, Failure{"sni", c.sni, r.SNI})
	}
	if !c.pathHolds(r) {
		out = append(out, Failure{"path", c.path.String(), r.NormalPath})
	}
	if !c.methodHolds(r) {
		out = append(out, Failure{"method", c.method, r.Method})
	}
	for i := range c.headers {
		if h := &c.headers[i]; !c.headerHolds(i, r) {
			want, got := h.name+" "+h.value.String(), ""
			if h.absent {
				want = h.name + " Absent"
			}
			if value, present := r.Headers.Get(h.name); present {
				got = fmt.Sprintf("%s: %q", h.name, value)
			}
			out = append(out, Failure{fmt.Sprintf("headers[%d]", i), want, got})
		}
	}
	return out
}

func (c *Condition) sniHolds(r *Seen) bool { return c.sni == "" || equalFold(c.sni, r.SNI) }

func (c *Condition) methodHolds(r *Seen) bool { return c.method == "" || c.method == r.Method }

func (c *Condition) pathHolds(r *Seen) bool {
	return c.path == nil || r.NormalPath != "" && c.path.holds(r.NormalPath)
}

func (c *Condition) headerHolds(i int, r *Seen) bool {
	h := &c.headers[i]
	value, present := r.Headers.Get(h.name)
	switch {
	case present == h.absent:
		return false
	case !present:
		return true
	case c.scope == Whole:
		return h.value.holds(value)
	}
	return c.scope == Denial && h.value.how == wholly && !regex.ASCII(value) || h.value.holdsForRun(value)
}

// equalFold compares server names. Envoy folds only ASCII letters.
func equalFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
