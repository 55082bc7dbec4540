package specs

import (
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// AccessTest is the spec of an AccessTest.
//
//confgen:schema
type AccessTest struct {
	// Each case is about one request; Always is about all requests that could
	// exist.
	Cases  []AccessCase `json:"cases,omitzero"`
	Always []AccessCase `json:"always,omitzero"`
	Confs  []ConfCase   `json:"confs,omitzero"`
}

// Validate checks that there is an assertion, and that a case has one client and one
// request.
func (s *AccessTest) Validate(at *diag.At) {
	if len(s.Cases)+len(s.Always)+len(s.Confs) == 0 {
		at.Errorf(diag.EmptyValue, "add cases, always or confs", "the test asserts nothing")
	}
	for i := range s.Cases {
		at := at.Field("cases").Index(i)
		if c := s.Cases[i].From; c != nil && (c.SpiffeIDPrefix != nil || c.Service != nil || c.Not != nil || c.AnyOf != nil) {
			at.Field("from").Errorf(diag.BadValue, "write spiffeId, dataplane or tags, or move it to always", "a case is about one client")
		}
		if r := s.Cases[i].Request; r != nil && r.PathPrefix != nil {
			at.Field("request").Field("pathPrefix").Errorf(diag.BadValue, "write path, or move it to always", "a case is about one request")
		}
	}
}

// AccessCase asserts the decision about the requests of some clients.
type AccessCase struct {
	Name    string        `json:"name,omitzero"`
	From    *AccessClient `json:"from,omitzero"` // nil: every client; in a case, a client without a SPIFFE ID
	To      AccessTarget  `json:"to"`
	Request *TestRequest  `json:"request,omitzero"` // nil: every request; in a case, a request without path
	Expect  Expectation   `json:"expect"`
}

// AccessClient is a set of clients. Exactly one field is set.
type AccessClient struct {
	SpiffeID       *string           `json:"spiffeId,omitzero" alias:"spiffeID"`
	SpiffeIDPrefix *string           `json:"spiffeIdPrefix,omitzero" alias:"spiffeIDPrefix"` // by path segment
	Dataplane      *string           `json:"dataplane,omitzero"`
	Service        *string           `json:"service,omitzero"`
	Tags           map[string]string `json:"tags,omitzero"`
	Not            *AccessClient     `json:"not,omitzero"`
	AnyOf          []AccessClient    `json:"anyOf,omitzero"`
}

// Validate checks that exactly one field is set, and the syntax of a SPIFFE ID.
func (c *AccessClient) Validate(at *diag.At) {
	exactlyOne(at, "a client", []presence{
		{"spiffeId", c.SpiffeID != nil}, {"spiffeIdPrefix", c.SpiffeIDPrefix != nil}, {"dataplane", c.Dataplane != nil},
		{"service", c.Service != nil}, {"tags", c.Tags != nil}, {"not", c.Not != nil}, {"anyOf", c.AnyOf != nil},
	})
	if c.SpiffeID != nil {
		strict.Validate(at, &conf.SpiffeIDMatch{Type: conf.SpiffeIDExact, Value: *c.SpiffeID})
	}
	if c.SpiffeIDPrefix != nil {
		strict.Validate(at, &conf.SpiffeIDMatch{Type: conf.SpiffeIDPrefix, Value: *c.SpiffeIDPrefix})
	}
}

// AccessTarget selects inbounds of a service or of a dataplane.
type AccessTarget struct {
	Service   *string `json:"service,omitzero"`
	Dataplane *string `json:"dataplane,omitzero"`
	Inbound   *string `json:"inbound,omitzero"` // nil: every inbound
}

// Validate checks that there is a service or a dataplane.
func (t *AccessTarget) Validate(at *diag.At) {
	exactlyOne(at, "to", []presence{{"service", t.Service != nil}, {"dataplane", t.Dataplane != nil}})
}

// TestRequest is a request or, in `always`, a set of requests. Absent fields do not
// matter.
type TestRequest struct {
	SNI        *string           `json:"sni,omitzero"`
	Method     *string           `json:"method,omitzero"`
	Path       *string           `json:"path,omitzero"`
	PathPrefix *string           `json:"pathPrefix,omitzero"`
	Headers    map[string]string `json:"headers,omitzero"`
}

// Validate checks the syntax of a path.
func (r *TestRequest) Validate(at *diag.At) {
	if r.Path != nil && r.PathPrefix != nil {
		at.Field("pathPrefix").Errorf(diag.FieldNotAllowed, "remove one of them", "is not allowed with path")
	}
	if r.Path != nil && !strings.HasPrefix(*r.Path, "/") {
		at.Field("path").Errorf(diag.BadPath, "", "a path must start with /")
	}
	if r.PathPrefix != nil {
		(&conf.PathMatch{Type: conf.PathPrefix, Value: *r.PathPrefix}).Validate(at)
	}
}

// Expectation is the expected decision.
type Expectation string

// Enum returns the allowed values.
func (Expectation) Enum() []string { return []string{"ALLOW", "DENY"} }

// ConfCase asserts a field of the conf of a dataplane or of a part of it.
type ConfCase struct {
	Name      string        `json:"name,omitzero"`
	Dataplane string        `json:"dataplane"`
	Kind      string        `json:"kind"`
	Outbound  string        `json:"outbound,omitzero"`
	Route     string        `json:"route,omitzero"`
	Inbound   string        `json:"inbound,omitzero"`
	Match     *AccessQuery  `json:"match,omitzero"` // the client and the request to an inbound
	Field     string        `json:"field"`          // JSON pointer
	Expect    ConfCondition `json:"expect"`
}

// AccessQuery is a client and a request; they determine which rule of an inbound
// applies.
type AccessQuery struct {
	SpiffeID string            `json:"spiffeId,omitzero" alias:"spiffeID"`
	SNI      string            `json:"sni,omitzero"`
	Method   string            `json:"method,omitzero"`
	Path     string            `json:"path,omitzero"`
	Headers  map[string]string `json:"headers,omitzero"`
	Tags     map[string]string `json:"tags,omitzero"`
}

// Validate checks that the field is a JSON pointer.
func (c *ConfCase) Validate(at *diag.At) {
	if !strings.HasPrefix(c.Field, "/") {
		at.Field("field").Errorf(diag.BadValue, "write /http/requestTimeout", "a field is a JSON pointer")
	}
}

// ConfCondition is a condition on the value of a field. All given parts must
// hold.
type ConfCondition struct {
	Equals  *Scalar `json:"equals,omitzero"`
	AtLeast *Scalar `json:"atLeast,omitzero"`
	AtMost  *Scalar `json:"atMost,omitzero"`
	Set     *bool   `json:"set,omitzero"`
}

// Validate checks that at least one part is given.
func (c *ConfCondition) Validate(at *diag.At) {
	if *c == (ConfCondition{}) {
		at.Errorf(diag.MissingField, "write equals, atLeast, atMost or set", "nothing is expected")
	}
}

// Scalar is the text of a string, a number or a boolean.
//
//confgen:openapi {"x-kubernetes-preserve-unknown-fields": true}
type Scalar string

// DecodeAt reads any scalar.
func (s *Scalar) DecodeAt(in *strict.Value) {
	var text string
	switch in.Kind() {
	case strict.Int, strict.Float, strict.Bool:
		text = in.Text()
	default:
		strict.Decode(in, &text)
	}
	*s = Scalar(text)
}
