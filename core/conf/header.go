package conf

import (
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/regex"
)

// HeaderName is the name of an HTTP header, in any letter case.
//
//confgen:openapi {"pattern": "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$"}
type HeaderName string

// Validate accepts the token characters of RFC 9110.
func (n HeaderName) Validate(at *diag.At) {
	switch {
	case n == "" || strings.ContainsFunc(string(n), notToken):
		at.Errorf(diag.BadValue, "use letters, digits and -", "bad header name %q", string(n))
	case len(n) > maxHeader:
		at.Errorf(diag.OutOfRange, "", "the name of a header must not be longer than %d bytes", maxHeader)
	}
}

// IsHost reports whether a header is the authority of a request, which Envoy does not change
// as a header.
func (n HeaderName) IsHost() bool { return strings.EqualFold(string(n), "host") }

func notToken(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", r))
}

// HeaderKeyValue is one header with the value to write.
type HeaderKeyValue struct {
	Name  HeaderName `json:"name"`
	Value string     `json:"value"`
}

// maxHeader is Envoy's limit for a name and for a value that it writes, in bytes.
const maxHeader = 16384

// Validate reports values that a header cannot have.
func (h *HeaderKeyValue) Validate(at *diag.At) {
	switch value := at.Field("value"); {
	case strings.ContainsFunc(h.Value, isControl):
		value.Errorf(diag.BadValue, "remove it", "a header must not have a control character")
	case len(h.Value) > maxHeader:
		value.Errorf(diag.OutOfRange, "", "a header must not be longer than %d bytes", maxHeader)
	}
}

// HeaderModifier adds and replaces headers.
type HeaderModifier struct {
	Set []HeaderKeyValue `json:"set,omitzero"`
	Add []HeaderKeyValue `json:"add,omitzero"`
}

// MaxHeaders is the number of headers that Envoy changes at one place.
const MaxHeaders = 1000

// Validate checks that no header is changed twice, that none is the host, and that there are
// not too many.
func (m *HeaderModifier) Validate(at *diag.At) {
	ValidateDistinctHeaders(at, m.Set, m.Add, nil)
	for _, list := range []struct {
		field   string
		headers []HeaderKeyValue
	}{{"set", m.Set}, {"add", m.Add}} {
		for i := range list.headers {
			if list.headers[i].Name.IsHost() {
				at.Field(list.field).Index(i).Field("name").Errorf(diag.BadValue, "remove it", "Envoy does not change the header %q here", list.headers[i].Name)
			}
		}
	}
	if n := m.Len(); n > MaxHeaders {
		at.Errorf(diag.OutOfRange, "", "changes %d headers; the limit of Envoy is %d", n, MaxHeaders)
	}
}

// Len returns how many headers are changed. M may be nil.
func (m *HeaderModifier) Len() int {
	if m == nil {
		return 0
	}
	return len(m.Set) + len(m.Add)
}

// ValidateDistinctHeaders checks that the fields set, add and remove of the mapping at
// the place contain no header twice. Letter case is ignored.
func ValidateDistinctHeaders(at *diag.At, set, add []HeaderKeyValue, remove []HeaderName) {
	seen := map[string]bool{}
	check := func(at *diag.At, name HeaderName) {
		if lower := strings.ToLower(string(name)); seen[lower] {
			at.Errorf(diag.DuplicateEntry, "one change for each header", "duplicate header %q", string(name))
		} else {
			seen[lower] = true
		}
	}
	for i := range set {
		check(at.Field("set").Index(i).Field("name"), set[i].Name)
	}
	for i := range add {
		check(at.Field("add").Index(i).Field("name"), add[i].Name)
	}
	for i := range remove {
		check(at.Field("remove").Index(i), remove[i])
	}
}

// HeaderMatchType determines how a header is compared.
type HeaderMatchType string

// The ways to compare a header.
const (
	HeaderExact     HeaderMatchType = "Exact"
	HeaderPrefix    HeaderMatchType = "Prefix"
	HeaderRegex     HeaderMatchType = "RegularExpression"
	HeaderPresent   HeaderMatchType = "Present"
	HeaderAbsent    HeaderMatchType = "Absent"
	headerByDefault                 = HeaderExact
)

// Enum returns the allowed values.
func (HeaderMatchType) Enum() []string {
	return Words(HeaderExact, HeaderPrefix, HeaderRegex, HeaderPresent, HeaderAbsent)
}

// HeaderMatch is a condition on one header of a request (SPEC 7.2). Value is nil only
// for Present and Absent; a nil Type means Exact.
//
//confgen:openapi {"allOf": [{"anyOf": [{"required": ["type"], "properties": {"type": {"enum": ["Present", "Absent"]}}}, {"required": ["value"]}]}, {"anyOf": [{"not": {"required": ["type"], "properties": {"type": {"enum": ["Present", "Absent"]}}}}, {"not": {"required": ["value"]}}]}]}
type HeaderMatch struct {
	Type  *HeaderMatchType `json:"type,omitzero"`
	Name  HeaderName       `json:"name"`
	Value *string          `json:"value,omitzero"`
}

// How returns the type, which is Exact if it is absent.
func (h *HeaderMatch) How() HeaderMatchType {
	if h.Type == nil {
		return headerByDefault
	}
	return *h.Type
}

// Validate checks that there is a value if and only if the type needs one, and that a
// regular expression compiles.
func (h *HeaderMatch) Validate(at *diag.At) {
	switch h.How() {
	case HeaderPresent, HeaderAbsent:
		if h.Value != nil {
			at.Field("value").Errorf(diag.FieldNotAllowed, "remove it", "is not allowed with type %q", h.How())
		}
	case HeaderExact, HeaderPrefix, HeaderRegex:
		if h.Value == nil {
			at.Field("value").Errorf(diag.MissingField, "", "is required for type %q", h.How())
		} else if h.How() == HeaderRegex {
			ValidateRegex(at.Field("value"), *h.Value)
			// A host is compared in any letter case (SPEC 7.2), which has separate limits.
			if strings.EqualFold(string(h.Name), "host") && regex.Check(*h.Value) == nil && regex.Check("(?i:"+*h.Value+")") != nil {
				at.Field("value").Errorf(diag.BadRegex, "compare a host with ASCII characters", "bad regular expression: it is too large in any letter case, in which a host is compared")
			}
		}
	}
}
