package meshhttproute

import (
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// Match is a condition on a request. All given conditions must hold; an empty match
// holds for every request.
type Match struct {
	Path        *PathMatch         `json:"path,omitzero"`
	Method      *conf.Method       `json:"method,omitzero"`
	QueryParams []QueryParamsMatch `json:"queryParams,omitzero"`
	Headers     []conf.HeaderMatch `json:"headers,omitzero"`
}

// SetDefaults sets absent fields to the defaults of Kuma's schema, so that rules with equal
// matches are merged.
func (m *Match) SetDefaults() {
	for i := range m.Headers {
		conf.Default(&m.Headers[i].Type, conf.HeaderExact)
	}
}

// Validate checks that there is at most one condition on each query parameter.
func (m *Match) Validate(at *diag.At) {
	seen := map[string]bool{}
	for i := range m.QueryParams {
		name := m.QueryParams[i].Name
		if seen[name] {
			at.Field("queryParams").Index(i).Field("name").Errorf(diag.DuplicateEntry, "", "duplicate query parameter %q", name)
		}
		seen[name] = true
	}
}

// PathMatchType determines how a path is compared.
type PathMatchType string

// The ways to compare a path, without its query: a prefix by segment, a regular
// expression (RE2) with the whole path.
const (
	Exact             PathMatchType = "Exact"
	PathPrefix        PathMatchType = "PathPrefix"
	RegularExpression PathMatchType = "RegularExpression"
)

// Enum returns the allowed values.
func (PathMatchType) Enum() []string { return conf.Words(Exact, PathPrefix, RegularExpression) }

// PathMatch is a condition on a request's path.
//
//confgen:openapi {"anyOf": [{"properties": {"type": {"enum": ["RegularExpression"]}, "value": {"maxLength": 1024}}}, {"properties": {"type": {"enum": ["Exact", "PathPrefix"]}, "value": {"pattern": "^/[^?#]*$"}}}]}
type PathMatch struct {
	Type  PathMatchType `json:"type"`
	Value string        `json:"value"`
}

// Validate checks that a path is absolute and has no query, and that a
// regular expression compiles.
func (p *PathMatch) Validate(at *diag.At) {
	switch value := at.Field("value"); {
	case p.Type == RegularExpression:
		conf.ValidateRegex(value, p.Value)
	case p.Type != Exact && p.Type != PathPrefix: // reported at its place
	case !strings.HasPrefix(p.Value, "/"):
		value.Errorf(diag.BadPath, "", "a path must start with /")
	case strings.ContainsAny(p.Value, "?#"):
		value.Errorf(diag.BadPath, "use queryParams", "a path must not contain ? or #")
	case p.Type == PathPrefix && p.Value != "/" && strings.HasSuffix(p.Value, "/"):
		value.Errorf(diag.BadPath, "write "+strings.TrimRight(p.Value, "/"), "a prefix is compared by segment and must not end with /")
	}
}

// QueryParamsMatchType determines how a query parameter is compared.
type QueryParamsMatchType string

// The ways to compare a query parameter.
const (
	ExactQueryParam QueryParamsMatchType = "Exact"
	RegexQueryParam QueryParamsMatchType = "RegularExpression"
)

// Enum returns the allowed values.
func (QueryParamsMatchType) Enum() []string { return conf.Words(ExactQueryParam, RegexQueryParam) }

// maxQueryParam is the longest name, in bytes, that Envoy compares.
const maxQueryParam = 1024

// QueryParamsMatch is a condition on one query parameter.
//
//confgen:openapi {"allOf": [{"properties": {"name": {"minLength": 1, "maxLength": 1024}}}]}
type QueryParamsMatch struct {
	Type  QueryParamsMatchType `json:"type"`
	Name  string               `json:"name"`
	Value string               `json:"value"`
}

// Validate checks the name, and that a regular expression compiles.
func (q *QueryParamsMatch) Validate(at *diag.At) {
	switch {
	case q.Name == "":
		at.Field("name").Errorf(diag.EmptyValue, "", "must not be empty")
	case len(q.Name) > maxQueryParam:
		at.Field("name").Errorf(diag.OutOfRange, "", "must not be longer than %d bytes", maxQueryParam)
	}
	if q.Type == RegexQueryParam {
		conf.ValidateRegex(at.Field("value"), q.Value)
	}
}
