package rbac

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"regexp"
	"strings"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/dump"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/internal/regex/language"
)

// undetermined returns the requests of a condition that cannot be decided. Equal conditions have
// one name, so they hold together.
func (b *builder) undetermined(what string, o any) *access.Requests {
	data, _ := json.Marshal(o) // it was JSON
	text := string(data)
	if len(text) > 200 {
		sum := fnv.New64a()
		_, _ = sum.Write(data)
		text = fmt.Sprintf("%s... (%x)", text[:160], sum.Sum64())
	}
	return access.Undetermined(what + ": " + text)
}

// header returns the requests whose header meets a header matcher.
func (b *builder) header(m dump.Object) *access.Requests {
	if m.Beside("name", "exact_match", "safe_regex_match", "range_match", "present_match", "prefix_match", "suffix_match", "contains_match", "string_match", "invert_match", "treat_missing_header_as_empty") != "" || !b.http {
		return b.undetermined("a condition on a header", m)
	}
	name, invert := m.Text("name"), m.Bool("invert_match")
	var matcher dump.Object
	for old, field := range map[string]string{"exact_match": "exact", "prefix_match": "prefix", "suffix_match": "suffix", "contains_match": "contains", "safe_regex_match": "safe_regex"} {
		if m.Has(old) {
			matcher = dump.Object{field: m[old]}
			if matcher[field] == nil {
				matcher[field] = any(m.Object(old))
			}
			if field != "safe_regex" {
				matcher[field] = m.Text(old)
			}
		}
	}
	if m.Has("string_match") {
		matcher = m.Object("string_match")
	}
	switch {
	case m.Has("range_match"):
		return b.undetermined("a range of a header", m)
	case matcher == nil:
		is := !m.Has("present_match") || m.Bool("present_match")
		present := b.present(name)
		if is == invert {
			present = access.Not(present)
		}
		return present
	}
	p, err := patternOf(matcher)
	if err != nil {
		return b.undetermined(err.Error(), m)
	}
	present, holds := b.present(name), b.headerText(name, p)
	if m.Bool("treat_missing_header_as_empty") && p.holds("") {
		holds = access.Or(holds, access.Not(present))
	} else if !m.Bool("treat_missing_header_as_empty") && invert {
		return access.And(present, access.Not(holds)) // a header that is missing meets no condition on its value
	}
	if invert {
		return access.Not(holds)
	}
	return holds
}

// subject returns the part of a request that a header of Envoy is. The name of one that
// other filters or Envoy set is not known.
func (b *builder) subject(name string) (access.Subject, bool) {
	switch name = strings.ToLower(name); {
	case b.changed != "" && b.http:
		return access.Subject{}, false
	case name == ":path":
		return access.Target, true
	case name == ":method":
		return access.Method, true
	case name == ":authority" || name == "host":
		return access.HeaderOf("host"), true
	case strings.HasPrefix(name, ":") || strings.HasPrefix(name, "x-envoy-") || strings.HasPrefix(name, "x-forwarded-") || name == "x-request-id":
		return access.Subject{}, false
	}
	return access.HeaderOf(name), true
}

func (b *builder) present(name string) *access.Requests {
	if s, known := b.subject(name); known {
		return s.Present().As(pattern{kind: Present}.about(s))
	}
	return access.Undetermined("the header " + name + " is present" + b.because())
}

func (b *builder) headerText(name string, p pattern) *access.Requests {
	if s, known := b.subject(name); known {
		return p.requestsFor(s)
	}
	return access.And(access.Undetermined("the header "+name+" is present"+b.because()), access.Undetermined("the header "+name+" meets "+p.String()+b.because()))
}

// because names the filter that makes headers unknown.
func (b *builder) because() string {
	if b.changed == "" {
		return ", which Envoy sets"
	}
	return ", which filter " + b.changed + " may change"
}

func (b *builder) urlPath(o dump.Object) *access.Requests {
	p, err := patternOf(o.Object("path"))
	if err != nil || !b.http || b.changed != "" {
		return b.undetermined("a condition on the path"+b.because(), o)
	}
	return p.path()
}

// serverName compares the server name; a client that sends none has an empty one.
func (b *builder) serverName(o dump.Object) *access.Requests {
	p, err := patternOf(o)
	if err != nil {
		return b.undetermined(err.Error(), o)
	}
	if p.holds("") {
		return access.Or(p.requestsFor(access.ServerName), access.Not(access.ServerName.Present().As(pattern{kind: Present}.about(access.ServerName))))
	}
	return p.requestsFor(access.ServerName)
}

const tagURI = "kuma://"

var (
	validID     = regexp.MustCompile(`\Aspiffe://[a-z0-9._-]+(?:/[\w.-]+)+\z`)
	prefixOfIDs = regexp.MustCompile(`\Aspiffe://[a-z0-9._-]+/`)
)

// uri returns the requests of clients with a URI that meets a pattern: the SPIFFE ID, or that of a
// tag.
func (b *builder) uri(p pattern) *access.Requests {
	id := b.id(p)
	if b.connection.NoTags {
		return id
	}
	return access.Or(id, b.tag(p))
}

func (b *builder) id(p pattern) *access.Requests {
	if p.how == isExpression {
		p = ofOne(p)
	}
	switch {
	case p.how == isExact && !validID.MatchString(p.value):
		return access.Or()
	case p.how == isExact:
		b.IDs = append(b.IDs, p.value)
		return p.requestsFor(access.ClientID)
	case p.how == isPrefix && prefixOfIDs.MatchString(p.value):
		return p.requestsFor(access.ClientID)
	}
	return access.ClientID.Matches(p.expression()).As(p.about(access.ClientID))
}

// tag returns the requests of clients with a tag whose URI meets a pattern.
func (b *builder) tag(p pattern) *access.Requests {
	source := p.expression()
	text, whole := p.value, p.how == isExact
	if p.how == isExpression {
		literal, complete := regexp.MustCompile(source).LiteralPrefix()
		text, whole = literal, complete
	}
	rest, isTag := strings.CutPrefix(text, tagURI)
	slash := strings.LastIndexByte(rest, '/')
	switch {
	case !some(source, tagURI+`[^,]+`):
		return access.Or()
	case !isTag || slash < 0:
	case whole:
		return written(access.ClientTag(rest[:slash]).Equals(rest[slash+1:]), rest[:slash], Exact, rest[slash+1:])
	case p.how == isPrefix && rest[slash+1:] == "":
		return written(access.ClientTag(rest[:slash]).Present(), rest[:slash], Present, "")
	case p.how == isPrefix:
		return written(access.ClientTag(rest[:slash]).Begins(rest[slash+1:]), rest[:slash], StringPrefix, rest[slash+1:])
	default:
		key := regexp.QuoteMeta(tagURI + rest[:slash+1])
		if value, begins := strings.CutPrefix(strings.TrimPrefix(source, "(?:"), key); begins && !strings.Contains(value, "|") {
			return written(access.ClientTag(rest[:slash]).Matches("(?:"+value), rest[:slash], RegularExpression, "(?:"+value)
		}
	}
	return access.Undetermined("a tag of the client meets " + p.String())
}

func written(s *access.Requests, tag, kind, value string) *access.Requests {
	return s.As(Comparison{Part: "tag", Name: tag, Type: kind, Value: value})
}

// some reports whether a text matches all expressions, or whether that takes too long to find out.
func some(expressions ...string) bool {
	steps := 1 << 20
	_, ok, err := language.Shortest(lists.Map(expressions, language.Values), nil, &steps)
	return ok || err != nil
}

// The parts of an expression for one URI among several that commas join.
const (
	before, behind = `(?:(?s:.)*,)?`, `(?:,(?s:.)*)?`
	joinedURIs     = `(?:spiffe://[^,]+)?(?:,?kuma://[^,]+)*`
)

// ofOne returns an expression for one URI, which has no comma, if an expression is one for it
// among others.
func ofOne(p pattern) pattern {
	if inner, ok := strings.CutPrefix(p.value, before); ok {
		if inner, ok = strings.CutSuffix(inner, behind); ok {
			if one, err := expressionOf("(?:" + inner + ")"); err == nil {
				return one
			}
		}
	}
	return p
}

// joined returns the requests of clients whose URIs, joined by commas, meet a pattern.
func (b *builder) joined(p pattern) *access.Requests {
	switch {
	case b.connection.NoTags:
		return b.id(p)
	case !some(p.expression(), joinedURIs):
		return access.Or()
	case p.how == isExact && validID.MatchString(p.value):
		return access.And(b.id(p), access.Undetermined("the certificate of the client has no tags"))
	}
	if p.how == isExpression {
		if one := ofOne(p); one.value != p.value {
			return b.uri(one)
		}
	}
	return access.Undetermined("the URIs of the certificate of the client meet " + p.String())
}
