package specs

import (
	"strconv"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// MeshGateway is the spec of a MeshGateway.
//
//confgen:schema
type MeshGateway struct {
	Selectors []TagSelector `json:"selectors"`
	Tags      Tags          `json:"tags,omitzero"`
	Conf      GatewayConf   `json:"conf"`
}

// Validate checks the selectors and the tags.
func (s *MeshGateway) Validate(at *diag.At) {
	validateSelectors(at.Field("selectors"), s.Selectors)
	ValidateTags(at.Field("tags"), s.Tags)
}

// TagSelector selects gateways by the tags of their dataplanes.
type TagSelector struct {
	Match Tags `json:"match"`
}

// Validate checks the tags; a value may be *. There must be one.
func (s *TagSelector) Validate(at *diag.At) {
	match := at.Field("match")
	if len(s.Match) == 0 {
		match.Errorf(diag.EmptyValue, "give the tag kuma.io/service", "must not be empty")
	}
	ValidateSelector(match, s.Match)
}

func validateSelectors(at *diag.At, selectors []TagSelector) {
	if selectors != nil && len(selectors) == 0 {
		at.Errorf(diag.EmptyValue, "give a selector", "must not be empty")
	}
}

// GatewayConf is the configuration of a [MeshGateway].
//
//confgen:openapi {"allOf": [{"properties": {"listeners": {"minItems": 1}}}]}
type GatewayConf struct {
	Listeners []GatewayListener `json:"listeners"`
}

// Validate checks that there is a listener.
func (c *GatewayConf) Validate(at *diag.At) {
	if c.Listeners != nil && len(c.Listeners) == 0 {
		at.Field("listeners").Errorf(diag.EmptyValue, "give a listener", "must not be empty")
	}
}

// GatewayListener is a port of a gateway.
type GatewayListener struct {
	Hostname string `json:"hostname,omitzero"` // empty: *
	//confgen:openapi {"minimum": 1, "maximum": 65535}
	Port      uint32            `json:"port"`
	Protocol  GatewayProtocol   `json:"protocol"`
	TLS       *GatewayTLS       `json:"tls,omitzero"`
	Tags      Tags              `json:"tags,omitzero"`
	CrossMesh bool              `json:"crossMesh,omitzero"`
	Resources *GatewayResources `json:"resources,omitzero"`
}

// Validate checks the port and the tags, and that TLS is present if and only if the
// protocol has it.
func (l *GatewayListener) Validate(at *diag.At) {
	conf.ValidatePort(at, "port", l.Port)
	ValidateListenerTags(at.Field("tags"), l.Tags)
	tls := l.Protocol == "TLS" || l.Protocol == "HTTPS"
	switch {
	case tls && l.TLS == nil && !l.CrossMesh:
		at.Field("tls").Errorf(diag.MissingField, "", "is required for protocol %s", l.Protocol)
	case !tls && l.TLS != nil:
		at.Field("tls").Errorf(diag.FieldNotAllowed, "use protocol TLS or HTTPS", "does not belong to protocol %s", l.Protocol)
	}
}

// Name returns the name of the listener in answers: its port or, if it is limited to a host
// name, HOSTNAME:PORT.
func (l *GatewayListener) Name() string {
	port := strconv.FormatUint(uint64(l.Port), 10)
	if l.Hostname == "" || l.Hostname == AnyValue {
		return port
	}
	return l.Hostname + ":" + port
}

// GatewayProtocol is the protocol of a listener.
type GatewayProtocol string

// Enum returns the allowed values.
func (GatewayProtocol) Enum() []string { return []string{"TCP", "TLS", "HTTP", "HTTPS"} }

// GatewayResources limits the resources of a listener.
type GatewayResources struct {
	ConnectionLimit uint32 `json:"connectionLimit,omitzero"`
}

// GatewayTLS configures TLS of a listener.
type GatewayTLS struct {
	Mode         GatewayTLSMode `json:"mode"`
	Certificates []DataSource   `json:"certificates,omitzero"`
	Options      *struct{}      `json:"options,omitzero"`
}

// Validate checks that a listener that terminates TLS has a certificate.
func (t *GatewayTLS) Validate(at *diag.At) {
	if t.Mode == "TERMINATE" && len(t.Certificates) == 0 {
		at.Field("certificates").Errorf(diag.MissingField, "", "is required for mode TERMINATE")
	}
}

// GatewayTLSMode determines whether the listener terminates TLS.
type GatewayTLSMode string

// Enum returns the allowed values.
func (GatewayTLSMode) Enum() []string { return []string{"TERMINATE", "PASSTHROUGH"} }

// DataSource is a text, in the document or elsewhere.
//
//confgen:openapi {"oneOf": [{"required": ["secret"]}, {"required": ["file"]}, {"required": ["inline"]}, {"required": ["inlineString"]}]}
type DataSource struct {
	Secret       *string `json:"secret,omitzero"`
	File         *string `json:"file,omitzero"`
	Inline       *string `json:"inline,omitzero"` // in base64
	InlineString *string `json:"inlineString,omitzero"`
}

// Validate checks that there is one source.
func (s *DataSource) Validate(at *diag.At) {
	exactlyOne(at, "the source", []presence{
		{"secret", s.Secret != nil}, {"file", s.File != nil}, {"inline", s.Inline != nil}, {"inlineString", s.InlineString != nil},
	})
}
