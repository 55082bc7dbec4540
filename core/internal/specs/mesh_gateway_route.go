package specs

import "github.com/meshmatch/meshmatch/core/diag"

// MeshGatewayRoute is the spec of a MeshGatewayRoute.
//
//confgen:schema
type MeshGatewayRoute struct {
	Selectors []TagSelector    `json:"selectors"`
	Conf      GatewayRouteConf `json:"conf"`
}

// Validate checks the selectors.
func (s *MeshGatewayRoute) Validate(at *diag.At) {
	validateSelectors(at.Field("selectors"), s.Selectors)
}

// GatewayRouteConf contains the routes of one protocol.
//
//confgen:openapi {"oneOf": [{"required": ["tcp"]}, {"required": ["http"]}]}
type GatewayRouteConf struct {
	TCP  *GatewayTCPRoute  `json:"tcp,omitzero"`
	HTTP *GatewayHTTPRoute `json:"http,omitzero"`
}

// Validate checks that exactly one protocol is given.
func (c *GatewayRouteConf) Validate(at *diag.At) {
	exactlyOne(at, "the conf", []presence{{"tcp", c.TCP != nil}, {"http", c.HTTP != nil}})
}

// GatewayTCPRoute routes connections.
type GatewayTCPRoute struct {
	Rules []GatewayTCPRule `json:"rules"`
}

// GatewayTCPRule contains the backends of connections.
type GatewayTCPRule struct {
	Backends []GatewayBackend `json:"backends"`
}

// GatewayHTTPRoute routes the requests for some hosts.
type GatewayHTTPRoute struct {
	Hostnames []string          `json:"hostnames,omitzero"`
	Rules     []GatewayHTTPRule `json:"rules"`
}

// GatewayHTTPRule contains the backends of requests that at least one of the
// matches selects.
//
//confgen:openapi {"allOf": [{"properties": {"matches": {"minItems": 1}}}]}
type GatewayHTTPRule struct {
	Matches  []GatewayMatch   `json:"matches"`
	Filters  []GatewayFilter  `json:"filters,omitzero"`
	Backends []GatewayBackend `json:"backends,omitzero"`
}

// Validate checks that there is a match.
func (r *GatewayHTTPRule) Validate(at *diag.At) {
	if r.Matches != nil && len(r.Matches) == 0 {
		at.Field("matches").Errorf(diag.EmptyValue, "", "must not be empty")
	}
}

// GatewayBackend selects dataplanes by tags.
type GatewayBackend struct {
	Weight      uint32 `json:"weight,omitzero"` // 0: no requests
	Destination Tags   `json:"destination"`
}

// Validate checks the tags.
func (b *GatewayBackend) Validate(at *diag.At) {
	destination := at.Field("destination")
	if len(b.Destination) == 0 {
		destination.Errorf(diag.EmptyValue, "", "must not be empty")
	}
	ValidateSelector(destination, b.Destination)
}

// GatewayMatch contains conditions on a request; all must hold.
type GatewayMatch struct {
	Path            *GatewayPathMatch   `json:"path,omitzero"`
	Method          string              `json:"method,omitzero"`
	Headers         []GatewayValueMatch `json:"headers,omitzero"`
	QueryParameters []GatewayValueMatch `json:"queryParameters,omitzero"`
}

// GatewayPathMatch is a condition on the path.
type GatewayPathMatch struct {
	Match GatewayPathMatchType `json:"match,omitzero"` // empty: EXACT
	Value string               `json:"value"`
}

// GatewayPathMatchType determines how a path is compared.
type GatewayPathMatchType string

// Enum returns the allowed values.
func (GatewayPathMatchType) Enum() []string { return []string{"EXACT", "PREFIX", "REGEX"} }

// GatewayValueMatch is a condition on a header or a query parameter.
type GatewayValueMatch struct {
	Match GatewayValueMatchType `json:"match,omitzero"` // empty: EXACT
	Name  string                `json:"name"`
	Value string                `json:"value,omitzero"`
}

// GatewayValueMatchType determines how a value is compared.
type GatewayValueMatchType string

// Enum returns the allowed values.
func (GatewayValueMatchType) Enum() []string { return []string{"EXACT", "REGEX", "ABSENT", "PRESENT"} }

// GatewayFilter is one action on a request or its response.
//
//confgen:openapi {"oneOf": [{"required": ["requestHeader"]}, {"required": ["responseHeader"]}, {"required": ["mirror"]}, {"required": ["redirect"]}, {"required": ["rewrite"]}]}
type GatewayFilter struct {
	RequestHeader  *GatewayHeaders  `json:"requestHeader,omitzero"`
	ResponseHeader *GatewayHeaders  `json:"responseHeader,omitzero"`
	Mirror         *GatewayMirror   `json:"mirror,omitzero"`
	Redirect       *GatewayRedirect `json:"redirect,omitzero"`
	Rewrite        *GatewayRewrite  `json:"rewrite,omitzero"`
}

// Validate checks that exactly one action is given.
func (f *GatewayFilter) Validate(at *diag.At) {
	exactlyOne(at, "the filter", []presence{
		{"requestHeader", f.RequestHeader != nil}, {"responseHeader", f.ResponseHeader != nil},
		{"mirror", f.Mirror != nil}, {"redirect", f.Redirect != nil}, {"rewrite", f.Rewrite != nil},
	})
}

// GatewayHeaders changes headers.
type GatewayHeaders struct {
	Set    []GatewayHeader `json:"set,omitzero"`
	Add    []GatewayHeader `json:"add,omitzero"`
	Remove []string        `json:"remove,omitzero"`
}

// GatewayHeader is a header.
type GatewayHeader struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// GatewayMirror sends copies of requests.
type GatewayMirror struct {
	Backend    GatewayBackend `json:"backend"`
	Percentage *float64       `json:"percentage,omitzero"`
}

// GatewayRedirect redirects requests to another URL.
type GatewayRedirect struct {
	Scheme   string `json:"scheme,omitzero"`
	Hostname string `json:"hostname,omitzero"`
	//confgen:openapi {"maximum": 65535}
	Port       uint32          `json:"port,omitzero"`
	StatusCode uint32          `json:"statusCode,omitzero"`
	Path       *GatewayRewrite `json:"path,omitzero"`
}

// GatewayRewrite changes the path.
type GatewayRewrite struct {
	ReplaceFull           *string `json:"replaceFull,omitzero"`
	ReplacePrefixMatch    *string `json:"replacePrefixMatch,omitzero"`
	HostToBackendHostname bool    `json:"hostToBackendHostname,omitzero"`
}

// Validate checks that the path is changed in exactly one way.
func (r *GatewayRewrite) Validate(at *diag.At) {
	onlyOne(at, "the rewrite", []presence{{"replaceFull", r.ReplaceFull != nil}, {"replacePrefixMatch", r.ReplacePrefixMatch != nil}})
}
