package meshhttproute

import (
	"strings"
	"unicode"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// Filter is one change of a request or its response.
//
//confgen:openapi {"allOf": [{"anyOf": [{"not": {"properties": {"type": {"enum": ["RequestHeaderModifier"]}}}}, {"required": ["requestHeaderModifier"]}]}, {"anyOf": [{"not": {"properties": {"type": {"enum": ["ResponseHeaderModifier"]}}}}, {"required": ["responseHeaderModifier"]}]}, {"anyOf": [{"not": {"properties": {"type": {"enum": ["RequestRedirect"]}}}}, {"required": ["requestRedirect"]}]}, {"anyOf": [{"not": {"properties": {"type": {"enum": ["URLRewrite"]}}}}, {"required": ["urlRewrite"]}]}]}
type Filter struct {
	Type                   FilterType       `json:"type" policyMerge:"discriminator"`
	RequestHeaderModifier  *HeaderModifier  `json:"requestHeaderModifier,omitzero"`
	ResponseHeaderModifier *HeaderModifier  `json:"responseHeaderModifier,omitzero"`
	RequestRedirect        *RequestRedirect `json:"requestRedirect,omitzero"`
	URLRewrite             *URLRewrite      `json:"urlRewrite,omitzero"`
	RequestMirror          *RequestMirror   `json:"requestMirror,omitzero"`
}

// FilterType is the name of the arm of a [Filter].
type FilterType string

// The types of filters.
const (
	RequestHeaderModifierType  FilterType = "RequestHeaderModifier"
	ResponseHeaderModifierType FilterType = "ResponseHeaderModifier"
	RequestRedirectType        FilterType = "RequestRedirect"
	URLRewriteType             FilterType = "URLRewrite"
	RequestMirrorType          FilterType = "RequestMirror"
)

// Enum returns the allowed values.
func (FilterType) Enum() []string {
	return conf.Words(RequestHeaderModifierType, ResponseHeaderModifierType, RequestRedirectType, URLRewriteType, RequestMirrorType)
}

// Validate checks that the arm is present. Arms with required fields are checked when
// they are decoded.
func (f *Filter) Validate(at *diag.At) {
	for _, arm := range []struct {
		of      FilterType
		field   string
		present bool
	}{
		{RequestHeaderModifierType, "requestHeaderModifier", f.RequestHeaderModifier != nil},
		{ResponseHeaderModifierType, "responseHeaderModifier", f.ResponseHeaderModifier != nil},
		{RequestRedirectType, "requestRedirect", f.RequestRedirect != nil},
		{URLRewriteType, "urlRewrite", f.URLRewrite != nil},
	} {
		if arm.of == f.Type && !arm.present {
			at.Field(arm.field).Errorf(diag.MissingField, "", "is required for type %q", f.Type)
		}
	}
}

// prefixRewrite returns the name of the arm whose path rewrite replaces the prefix of
// the match, or "".
func (f *Filter) prefixRewrite() string {
	replacesPrefix := func(p *PathRewrite) bool { return p != nil && p.Type == ReplacePrefixMatch }
	switch {
	case f.RequestRedirect != nil && replacesPrefix(f.RequestRedirect.Path):
		return "requestRedirect"
	case f.URLRewrite != nil && replacesPrefix(f.URLRewrite.Path):
		return "urlRewrite"
	}
	return ""
}

// HeaderModifier changes headers.
//
//confgen:openapi {"minProperties": 1}
type HeaderModifier struct {
	Set    []conf.HeaderKeyValue `json:"set,omitzero"`
	Add    []conf.HeaderKeyValue `json:"add,omitzero"`
	Remove []conf.HeaderName     `json:"remove,omitzero"`
}

// Validate checks that at least one header is changed, and none twice.
func (m *HeaderModifier) Validate(at *diag.At) {
	if m.Set == nil && m.Add == nil && m.Remove == nil {
		at.Errorf(diag.EmptyValue, "give set, add or remove", "must change a header")
	}
	conf.ValidateDistinctHeaders(at, m.Set, m.Add, m.Remove)
}

// added returns how many headers are set or added. M may be nil.
func (m *HeaderModifier) added() int {
	if m == nil {
		return 0
	}
	return len(m.Set) + len(m.Add)
}

// RequestRedirect redirects to another URL; parts that are not set come from the
// request.
//
//confgen:openapi {"anyOf": [{"required": ["scheme"]}, {"required": ["hostname"]}, {"required": ["path"]}, {"required": ["port"]}]}
type RequestRedirect struct {
	Scheme   *Scheme          `json:"scheme,omitzero"`
	Hostname *PreciseHostname `json:"hostname,omitzero"`
	Path     *PathRewrite     `json:"path,omitzero"`
	Port     *conf.Port       `json:"port,omitzero"`
	// StatusCode is 302 by default.
	StatusCode *RedirectStatus `json:"statusCode,omitzero"`
}

// Validate reports a redirect to the URL of the request, which would loop.
func (r *RequestRedirect) Validate(at *diag.At) {
	if r.Scheme == nil && r.Hostname == nil && r.Path == nil && r.Port == nil {
		at.Errorf(diag.EmptyValue, "set scheme, hostname, port or path", "the request is redirected to its own URL")
	}
}

// SetDefaults sets the status.
func (r *RequestRedirect) SetDefaults() { conf.Default(&r.StatusCode, 302) }

// Scheme is the scheme of a URL.
type Scheme string

// Enum returns the allowed values.
func (Scheme) Enum() []string { return []string{"http", "https"} }

// RedirectStatus is the status of a redirect.
//
//confgen:openapi {"enum": [301, 302, 303, 307, 308]}
type RedirectStatus int32

// Validate accepts only statuses that redirect a client.
func (s RedirectStatus) Validate(at *diag.At) {
	switch s {
	case 301, 302, 303, 307, 308:
	default:
		at.Errorf(diag.OutOfRange, "", "must be one of 301, 302, 303, 307 and 308")
	}
}

// URLRewrite changes the URL of the request to the backend.
//
//confgen:openapi {"minProperties": 1}
type URLRewrite struct {
	Hostname *PreciseHostname `json:"hostname,omitzero"`
	Path     *PathRewrite     `json:"path,omitzero"`
	// HostToBackendHostname uses the host name of the endpoint; nil means false.
	HostToBackendHostname *bool `json:"hostToBackendHostname,omitzero"`
}

// Validate checks that the filter changes something, and that there is only one host name.
func (u *URLRewrite) Validate(at *diag.At) {
	if *u == (URLRewrite{}) {
		at.Errorf(diag.EmptyValue, "set hostname or path, or remove the filter", "the filter changes nothing")
	}
	if u.Hostname != nil && u.HostToBackendHostname != nil && *u.HostToBackendHostname {
		at.Field("hostToBackendHostname").Errorf(diag.FieldNotAllowed, "use one of them", "is not allowed with hostname")
	}
}

// PathRewrite replaces the path, or a prefix of it.
type PathRewrite struct {
	Type               PathRewriteType `json:"type" policyMerge:"discriminator"`
	ReplaceFullPath    *string         `json:"replaceFullPath,omitzero"`
	ReplacePrefixMatch *string         `json:"replacePrefixMatch,omitzero"`
}

// Validate reports values that a path cannot have.
func (p *PathRewrite) Validate(at *diag.At) {
	check := func(field string, path *string) {
		if path != nil && strings.ContainsFunc(*path, unicode.IsControl) {
			at.Field(field).Errorf(diag.BadPath, "remove it", "a path must not have a control character")
		}
	}
	check("replaceFullPath", p.ReplaceFullPath)
	check("replacePrefixMatch", p.ReplacePrefixMatch)
}

// PathRewriteType is the name of the arm of a [PathRewrite].
type PathRewriteType string

// The types of path rewrites.
const (
	ReplaceFullPath    PathRewriteType = "ReplaceFullPath"
	ReplacePrefixMatch PathRewriteType = "ReplacePrefixMatch"
)

// Enum returns the allowed values.
func (PathRewriteType) Enum() []string { return conf.Words(ReplaceFullPath, ReplacePrefixMatch) }

// RequestMirror sends a copy of the request to another backend and ignores the
// response.
type RequestMirror struct {
	// Percentage of the requests; nil means all.
	Percentage *conf.Percentage `json:"percentage,omitzero"`
	BackendRef conf.BackendRef  `json:"backendRef"`
}

// Validate reports a mirror to a MeshMultiZoneService, which a control plane of Kuma 2 refuses.
func (m *RequestMirror) Validate(at *diag.At) {
	if m.BackendRef.Kind == conf.BackendMeshMultiZoneService {
		at.Field("backendRef").Field("kind").If(diag.AsKuma2).Errorf(diag.UnknownValue, "mirror to a MeshService", "a control plane of Kuma 2 refuses a mirror to a %s", m.BackendRef.Kind)
	}
}
