package solver

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
)

// A match is the condition of an entry, or of an answer (SPEC 7.2).
type match struct {
	SpiffeID *typed            `json:"spiffeId,omitempty"`
	SNI      string            `json:"sni,omitempty"`
	Method   string            `json:"method,omitempty"`
	Path     *typed            `json:"path,omitempty"`
	Headers  []header          `json:"headers,omitempty"`
	Tags     map[string]string `json:"tags,omitempty"`
}

type typed struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

type header struct {
	Type  string `json:"type,omitempty"`
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
}

func (m *match) empty() bool { return !m.needsHTTP() && m.SpiffeID == nil && m.SNI == "" }

func (m *match) needsHTTP() bool { return m.Path != nil || m.Method != "" || len(m.Headers) > 0 }

// A scope is how much of a header's value a condition may hold for.
type scope int

const (
	whole  scope = iota // the whole value
	runs                // or any run of its comma-separated elements
	denial              // or, by an expression, any value with a byte outside ASCII
)

var scopes = map[string]scope{"deny": denial, "allow": whole, "allowWithShadowDeny": runs}

// headers are the names of the headers that meshes compare, in lower case; their variables have
// these names.
var headers = []string{"x-team", "x-canary", "x-part", "cookie", "host"}

var tagKeys = []string{"kuma.io/service", "team", "version"}

func tagName(key string) string { return "tag-" + strings.ReplaceAll(key, "/", "-") }

// requests returns the formula of the requests that an inbound can receive (SPEC 13.1). With all,
// it is of clients with any certificate.
func (w *world) requests(inbound string, all bool) string {
	var f []string
	domains := map[certificates][]string{oneDomain: {domain}, withTags: {domain}, twoDomains: {domain, otherDomain}}[w.clients]
	switch {
	case all:
	case w.clients == none:
		f = append(f, not(has("id")), not(has("sni")))
	case domains != nil:
		in := []string{not(has("id"))}
		for _, d := range domains {
			in = append(in, w.in("id", below("spiffe://"+d)))
		}
		f = append(f, or(in...))
	}
	if !all && w.clients != withTags {
		for _, key := range tagKeys {
			f = append(f, not(has(tagName(key))))
		}
	}
	if inbound == "http" {
		return and(append(f, has("method"), has("path"), has("host"))...)
	}
	for _, part := range append([]string{"method", "path"}, headers...) {
		f = append(f, not(has(part)))
	}
	return and(f...)
}

// texts are the languages of all texts that the parts of a request can have. A byte is a
// character.
var texts = map[string]string{
	"id":     concatenation(text("spiffe://"), plus(class("a-z0-9._-")), plus(concatenation(text("/"), "(re.diff "+plus(class("a-zA-Z0-9._-"))+" "+union(text("."), text(".."))+")"))),
	"sni":    plus(class("a-z0-9._-")),
	"method": plus(class("A-Z")),
	"path":   paths,
	"x-team": trimmedTexts, "x-canary": trimmedTexts, "x-part": trimmedTexts, "cookie": trimmedTexts,
	"host":                plus(class("!$%&'()*+,.:;=@[]_~a-zA-Z0-9-")), // the bytes that Envoy accepts (SPEC 13.1)
	"tag-kuma.io-service": tagTexts, "tag-team": tagTexts, "tag-version": tagTexts,
}

// Other characters of a path are percent-encoded when it is put into its normal form.
var (
	segment = plus(class("!$-.0-;=@-Z[]_a-z~"))
	paths   = "(re.diff " + union(text("/"), concatenation(plus(concatenation(text("/"), segment)), opt(text("/")))) + " " +
		union(
			concatenation(anything, text("/"), text("."), opt(text(".")), opt(concatenation(class(";/"), anything))), // a dot segment
			concatenation(anything, text("/;"), anything),                                                            // without its parameters it would be empty
			concatenation(anything, text("%00"), anything), concatenation(anything, text("%"), escapeResolved, anything)) + ")"
	escapeResolved = union(concatenation(text("2"), class("dDeEfF")), concatenation(text("3"), class("0-9")), concatenation(text("4"), class("1-9a-fA-F")),
		concatenation(text("5"), class("0-9aAcCfF")), concatenation(text("6"), class("1-9a-fA-F")), concatenation(text("7"), class("0-9aAeE")))

	// The value of a header has no blanks at its ends.
	visible      = union(class("!-~"), notASCII)
	trimmedTexts = opt(concatenation(visible, opt(concatenation(star(union(visible, class(" \t"))), visible))))
	blanks       = star(class(" \t"))
	tagTexts     = plus(class("a-z0-9._-"))
)

// formula returns the condition as a formula. Headers are compared by the scope that of returns
// for each.
func (w *world) formula(m *match, of func(*header) scope) string {
	var f []string
	in := func(part, language string) { f = append(f, w.in(part, language)) }
	if id := m.SpiffeID; id != nil {
		switch {
		case id.Type == "Exact":
			in("id", text(id.Value))
		case w.semantics == semantics.Kuma:
			in("id", concatenation(text(id.Value), anything))
		default:
			in("id", below(id.Value))
		}
	}
	if m.SNI != "" {
		in("sni", text(strings.ToLower(m.SNI)))
	}
	if m.Method != "" {
		in("method", text(m.Method))
	}
	if p := m.Path; p != nil {
		switch p.Type {
		case "Exact":
			in("path", text(p.Value))
		case "Prefix":
			in("path", below(p.Value))
		default:
			in("path", expression(p.Value))
		}
	}
	for i := range m.Headers {
		h := &m.Headers[i]
		switch name := strings.ToLower(h.Name); h.Type {
		case "Present":
			f = append(f, has(name))
		case "Absent":
			f = append(f, not(has(name)))
		default:
			in(name, h.language(of(h)))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(m.Tags)) {
		if value := m.Tags[key]; value == "*" {
			f = append(f, has(tagName(key)))
		} else {
			in(tagName(key), text(value))
		}
	}
	return and(f...)
}

// below returns the texts that a prefix matches by segment.
func below(prefix string) string {
	return concatenation(text(strings.TrimSuffix(prefix, "/")), opt(concatenation(text("/"), anything)))
}

// language returns the values that meet the condition.
func (h *header) language(s scope) string {
	var language string
	switch h.Type {
	case "Prefix":
		language = concatenation(text(h.Value), anything)
	case "RegularExpression":
		language = expression(h.Value)
	default:
		language = text(h.Value)
	}
	if strings.EqualFold(h.Name, "host") {
		language = h.authorities()
	}
	if s != whole {
		// A run is trimmed, and so is the whole value.
		run := "(re.inter " + trimmedTexts + " " + language + ")"
		language = concatenation(opt(concatenation(anything, text(","))), blanks, run, blanks, opt(concatenation(text(","), anything)))
	}
	if s == denial && h.Type == "RegularExpression" {
		language = union(language, concatenation(anything, notASCII, anything))
	}
	return language
}

// authorities returns the authorities that meet a condition on the host: in any letter case, with
// or without a final dot, and with or without a port after it (SPEC 7.2).
func (h *header) authorities() string {
	var parts []string
	for _, c := range h.Value {
		lower, upper := strings.ToLower(string(c)), strings.ToUpper(string(c))
		if c == ':' {
			parts = append(parts, opt(text(".")))
		}
		parts = append(parts, union(text(lower), text(upper)))
	}
	if h.Type == "Prefix" {
		return concatenation(append(parts, anything)...)
	}
	return concatenation(append(parts, opt(text(".")), opt(concatenation(text(":"), star(class("0-9")))))...)
}

// An entry is one entry of the lists of an inbound, with its formula.
type entry struct {
	*match
	policy  string
	rule    int
	list    string
	index   int
	formula string
}

// entries returns the entries that can match on an inbound, in the order of policies and rules
// (SPEC 7.3, 7.5).
func (m *mesh) entries(inbound string) []entry {
	var out []entry
	for _, p := range m.ordered(inbound) {
		for i := range p.rules {
			for _, l := range p.rules[i].lists() {
				for k := range *l.entries {
					e := entry{match: &(*l.entries)[k], policy: p.name, rule: i, list: l.name, index: k}
					seen := *e.match
					if inbound == "tcp" && seen.needsHTTP() {
						if l.name != "deny" {
							continue
						}
						seen = match{SpiffeID: seen.SpiffeID, SNI: seen.SNI}
					}
					e.formula = m.formula(&seen, func(*header) scope { return scopes[l.name] })
					out = append(out, e)
				}
			}
		}
	}
	return out
}

// of returns the formulas of the entries of lists.
func formulasOf(entries []entry, lists ...string) []string {
	var out []string
	for _, e := range entries {
		if slices.Contains(lists, e.list) {
			out = append(out, e.formula)
		}
	}
	return out
}

// decision returns the formula of the requests that entries allow, and of those that they
// would allow if allowWithShadowDeny denied.
func decision(entries []entry) (allowed, shadow string) {
	allowed = and(not(or(formulasOf(entries, "deny")...)), or(formulasOf(entries, "allow", "allowWithShadowDeny")...))
	return allowed, and(allowed, not(or(formulasOf(entries, "allowWithShadowDeny")...)))
}

// allowed returns the formula of the requests that an inbound allows.
func (m *mesh) allowed(inbound string) string {
	if !m.from {
		allowed, _ := decision(m.entries(inbound))
		return allowed
	}
	allowed := "false"
	for _, p := range m.ordered(inbound) {
		for _, i := range p.from { // a later item overrides
			tags := i.tags
			if i.service != "" {
				tags = with(tags, "kuma.io/service", i.service)
			}
			allowed = fmt.Sprintf("(ite %s %t %s)", m.formula(&match{Tags: tags}, nil), i.action != "Deny", allowed)
		}
	}
	return allowed
}
