package rbac

import (
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/regex"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/permission"
)

// translation translates matches for one form of the filter. It keeps the translation of
// each regular expression.
type translation struct {
	form  Form
	known map[string]string // by kind and expression
	size  int               // of known, in bytes
}

func newTranslation(form Form) *translation {
	return &translation{form: form, known: map[string]string{}}
}

// tooLarge reports whether the expressions alone are larger than a filter may be.
func (t *translation) tooLarge() bool { return t.size > MaxFilter }

// entry returns the condition under which an entry holds. Its match must not be empty.
// Server names are conditions in the matcher form only.
func (t *translation) entry(e *permission.Entry) *condition {
	m := e.Match
	var conditions []*condition
	if m.SpiffeID != nil {
		conditions = append(conditions, t.spiffeID(m.SpiffeID))
	}
	if m.SNI != nil && t.form != RulesForm {
		conditions = append(conditions, comparison(input{kind: serverName}, textExact, lowerName(m)))
	}
	if m.Path != nil {
		conditions = append(conditions, t.path(m.Path))
	}
	if m.Method != nil {
		conditions = append(conditions, comparison(header(":method"), textExact, string(*m.Method)))
	}
	for i := range m.Headers {
		conditions = append(conditions, t.header(&m.Headers[i], e.List.Scope()))
	}
	return allOf(conditions...)
}

// lowerName returns the server name in lower case, as Envoy compares it.
func lowerName(m *conf.Match) string { return strings.ToLower(string(*m.SNI)) }

func header(name string) input { return input{httpHeader, name} }

// spiffeID compares the client's SPIFFE ID. In the matcher form it may be surrounded by
// other URI SANs (identity.go).
func (t *translation) spiffeID(m *conf.SpiffeIDMatch) *condition {
	on := input{kind: clientURI}
	switch {
	case t.form != RulesForm:
		return comparison(on, textRegex, SpiffeIDExpression(m))
	case m.Type == conf.SpiffeIDExact:
		return comparison(on, textExact, m.Value)
	}
	return comparison(on, textRegex, belowID(m))
}

// path compares the path. In the matcher form the input includes the query.
func (t *translation) path(m *conf.PathMatch) *condition {
	on, exactly := input{kind: urlPath}, func(on input, path string) []*condition {
		return []*condition{comparison(on, textExact, path)}
	}
	if t.form != RulesForm {
		on, exactly = header(":path"), func(on input, path string) []*condition {
			return []*condition{comparison(on, textExact, path), comparison(on, textPrefix, path+"?")}
		}
	}
	prefix := request.TrimSlash(m.Value)
	switch {
	case m.Type == conf.PathExact:
		return anyOf(exactly(on, m.Value)...)
	case m.Type == conf.PathRegex && t.form != RulesForm:
		return comparison(on, textRegex, t.regex("target", m.Value, (*regex.Expr).Target))
	case m.Type == conf.PathRegex:
		return comparison(on, textRegex, t.regex("whole", m.Value, (*regex.Expr).Whole))
	case prefix == "":
		return comparison(on, textPrefix, "/")
	}
	return anyOf(append(exactly(on, prefix), comparison(on, textPrefix, prefix+"/"))...)
}

// header compares a header. The scope determines whether the condition also holds if any run
// of the value's elements matches (SPEC 7.2).
func (t *translation) header(h *conf.HeaderMatch, scope request.ValueScope) *condition {
	runs := scope != request.Whole
	on := header(strings.ToLower(string(h.Name)))
	isHost := on.header == "host"
	if isHost {
		on.header = ":authority"
	}
	anyBytes := `\C*`
	if t.form == RulesForm {
		anyBytes = `(?s:.)*` // gRPC uses Go's expressions
	}
	element := `(?:` + anyBytes + `,)?[\t ]*`
	runsOf := func(e *regex.Expr) string { return e.Runs(anyBytes) }
	switch how := h.How(); {
	case how == conf.HeaderAbsent:
		return negation(comparison(on, textAny, ""))
	case how == conf.HeaderPresent:
		return comparison(on, textAny, "")
	case isHost && runs:
		return t.bytewise(scope, comparison(on, textRegex, t.regex("authority runs", request.AuthorityExpression(h), func(e *regex.Expr) string {
			return runsOf(e.Authority())
		})))
	case isHost:
		return t.bytewise(scope, comparison(on, textRegex, t.regex("authority", request.AuthorityExpression(h), func(e *regex.Expr) string {
			return e.Authority().Whole()
		})))
	case how == conf.HeaderPrefix:
		if runs && *h.Value != "" {
			return comparison(on, textRegex, element+quoted(*h.Value)+anyBytes)
		}
		return comparison(on, textPrefix, *h.Value)
	case how == conf.HeaderRegex:
		switch {
		case runs && on.header == "cookie": // it ends in a blank if its last line is empty
			return t.bytewise(scope, comparison(on, textRegex, t.regex("cookie", *h.Value, func(e *regex.Expr) string {
				return `(?:` + e.Whole() + `)|` + runsOf(e)
			})))
		case runs:
			return t.bytewise(scope, comparison(on, textRegex, t.regex("runs", *h.Value, runsOf)))
		}
		return t.bytewise(scope, comparison(on, textRegex, t.regex("whole", *h.Value, (*regex.Expr).Whole)))
	}
	if runs {
		return comparison(on, textRegex, element+quoted(*h.Value)+`[\t ]*(?:,`+anyBytes+`)?`)
	}
	return comparison(on, textExact, *h.Value)
}

// bytewise completes the comparison of a header with a regular expression, as far as the bytes
// beyond ASCII are concerned. Envoy compares byte by byte; releases without
// [capability.ByteExpressions] compare characters, and a byte that is no part of one matches
// nothing but \C. ASCII is compared alike by all.
//
// So a denial also holds for every value with such a byte. For those releases an entry that
// allows holds for no such value: it could match the character where it does not match the bytes.
func (t *translation) bytewise(scope request.ValueScope, c *condition) *condition {
	switch {
	case scope == request.Denial:
		return anyOf(c, notASCII(c.on))
	case t.form == CharacterMatcherForm:
		return allOf(c, isASCII(c.on))
	}
	return c
}

func isASCII(on input) *condition { return comparison(on, textRegex, `[\x00-\x7f]*`) }

// notASCII returns the condition that an input is present and has a byte outside ASCII.
func notASCII(on input) *condition { return allOf(comparison(on, textAny, ""), negation(isASCII(on))) }

// regex translates a regular expression that passed validation, once.
func (t *translation) regex(kind, expression string, translate func(*regex.Expr) string) string {
	key := kind + " " + expression
	out, ok := t.known[key]
	if !ok {
		out = translate(regex.MustParse(expression))
		t.known[key] = out
		t.size += len(out)
	}
	return out
}
