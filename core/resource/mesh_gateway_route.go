package resource

import (
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// MeshGatewayRoute is routes of builtin gateways.
type MeshGatewayRoute struct {
	ObjectOf[MeshGatewayRouteSpec]
}

// MeshGatewayRouteSpec is a MeshGatewayRoute as it is written.
type MeshGatewayRouteSpec struct {
	Selectors []TagSelector    `json:"selectors"`
	Conf      GatewayRouteConf `json:"conf"`
}

// Validate checks the selectors.
func (s *MeshGatewayRouteSpec) Validate(at *diag.At) {
	validateSelectors(at.Field("selectors"), s.Selectors)
}

// GatewayRouteConf has the routes of one protocol.
type GatewayRouteConf struct {
	TCP  *GatewayTCPRoute  `json:"tcp,omitzero"`
	HTTP *GatewayHTTPRoute `json:"http,omitzero"`
}

// Validate checks that there is one protocol.
func (c *GatewayRouteConf) Validate(at *diag.At) {
	exactlyOne(at, "the conf", []presence{{"tcp", c.TCP != nil}, {"http", c.HTTP != nil}})
}

// GatewayTCPRoute is where connections go.
type GatewayTCPRoute struct {
	Rules []GatewayTCPRule `json:"rules"`
}

// GatewayTCPRule is the backends of connections.
type GatewayTCPRule struct {
	Backends []GatewayBackend `json:"backends"`
}

// GatewayHTTPRoute is where the requests for some hosts go.
type GatewayHTTPRoute struct {
	Hostnames []string          `json:"hostnames,omitzero"`
	Rules     []GatewayHTTPRule `json:"rules"`
}

// GatewayHTTPRule is where a request goes that one of the matches holds for.
type GatewayHTTPRule struct {
	Matches  []GatewayMatch   `json:"matches"`
	Filters  []GatewayFilter  `json:"filters,omitzero"`
	Backends []GatewayBackend `json:"backends,omitzero"`
}

// Validate checks that there is a match.
func (r *GatewayHTTPRule) Validate(at *diag.At) {
	if r.Matches != nil && len(r.Matches) == 0 {
		at.Field("matches").Errorf("", "must not be empty")
	}
}

// GatewayBackend is the dataplanes with some tags.
type GatewayBackend struct {
	Weight      uint32 `json:"weight,omitzero"` // 0 gets nothing
	Destination Tags   `json:"destination"`
}

// Validate checks the tags.
func (b *GatewayBackend) Validate(at *diag.At) {
	destination := at.Field("destination")
	if b.Destination != nil && len(b.Destination) == 0 {
		destination.Errorf("", "must not be empty")
	}
	conf.ValidateSelector(destination, b.Destination.asMap())
}

// GatewayMatch is conditions on a request; all must hold.
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

// GatewayPathMatchType is how a path is compared.
type GatewayPathMatchType string

// Enum returns the allowed values.
func (GatewayPathMatchType) Enum() []string { return []string{"EXACT", "PREFIX", "REGEX"} }

// GatewayValueMatch is a condition on a header or a query parameter.
type GatewayValueMatch struct {
	Match GatewayValueMatchType `json:"match,omitzero"` // empty: EXACT
	Name  string                `json:"name"`
	Value string                `json:"value,omitzero"`
}

// GatewayValueMatchType is how a value is compared.
type GatewayValueMatchType string

// Enum returns the allowed values.
func (GatewayValueMatchType) Enum() []string { return []string{"EXACT", "REGEX", "ABSENT", "PRESENT"} }

// GatewayFilter is one thing that is done to a request or its response.
type GatewayFilter struct {
	RequestHeader  *GatewayHeaders  `json:"requestHeader,omitzero"`
	ResponseHeader *GatewayHeaders  `json:"responseHeader,omitzero"`
	Mirror         *GatewayMirror   `json:"mirror,omitzero"`
	Redirect       *GatewayRedirect `json:"redirect,omitzero"`
	Rewrite        *GatewayRewrite  `json:"rewrite,omitzero"`
}

// Validate checks that it is one thing.
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

// GatewayRedirect answers with another URL.
type GatewayRedirect struct {
	Scheme     string          `json:"scheme,omitzero"`
	Hostname   string          `json:"hostname,omitzero"`
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

// Validate checks that the path is changed in one way.
func (r *GatewayRewrite) Validate(at *diag.At) {
	onlyOne(at, "the rewrite", []presence{{"replaceFull", r.ReplaceFull != nil}, {"replacePrefixMatch", r.ReplacePrefixMatch != nil}})
}
