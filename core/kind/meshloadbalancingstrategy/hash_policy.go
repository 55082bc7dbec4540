package meshloadbalancingstrategy

import (
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// HashPolicy is a part of a request that is hashed.
//
//confgen:openapi {"allOf": [{"anyOf": [{"not": {"properties": {"type": {"enum": ["Connection"]}}}}, {"required": ["connection"]}]}]}
type HashPolicy struct {
	Type HashPolicyType `json:"type" policyMerge:"discriminator"`
	// Terminal ends the list at this policy if there is already a hash; nil
	// means false.
	Terminal       *bool           `json:"terminal,omitzero"`
	Header         *Header         `json:"header,omitzero"`
	Cookie         *Cookie         `json:"cookie,omitzero"`
	Connection     *Connection     `json:"connection,omitzero"`
	QueryParameter *QueryParameter `json:"queryParameter,omitzero"`
	FilterState    *FilterState    `json:"filterState,omitzero"`
}

// HashPolicyType is the name of the arm of a [HashPolicy].
type HashPolicyType string

// The types of hash policies.
const (
	HeaderType     HashPolicyType = "Header"
	CookieType     HashPolicyType = "Cookie"
	ConnectionType HashPolicyType = "Connection"
	// SourceIPType is the short form of a Connection with sourceIP: true.
	SourceIPType       HashPolicyType = "SourceIP"
	QueryParameterType HashPolicyType = "QueryParameter"
	FilterStateType    HashPolicyType = "FilterState"
)

// Enum returns the allowed values.
func (HashPolicyType) Enum() []string {
	return conf.Words(HeaderType, CookieType, ConnectionType, SourceIPType, QueryParameterType, FilterStateType)
}

// Validate checks that the policy has a part to hash. Arms with required fields
// are checked when they are decoded.
func (p *HashPolicy) Validate(at *diag.At) {
	if p.Type == ConnectionType && p.Connection == nil {
		at.Field("connection").Errorf(diag.MissingField, "write {sourceIP: true}", "is required for type %q", p.Type)
	}
}

// IgnoresArms returns the ways to read documents in which the arms of other types are
// ignored: a control plane of Kuma does not look at them beside SourceIP.
func (p *HashPolicy) IgnoresArms() diag.Reading {
	if p.Type == SourceIPType {
		return diag.AsKuma
	}
	return 0
}

// Header hashes a header's value.
type Header struct {
	Name conf.HeaderName `json:"name"`
}

// Cookie hashes a cookie's value.
//
//confgen:openapi {"allOf": [{"properties": {"name": {"minLength": 1}}}]}
type Cookie struct {
	Name string `json:"name"`
	// TTL makes the proxy set the cookie if it is absent; zero means until the end of the
	// session.
	TTL  *conf.Duration `json:"ttl,omitzero"`
	Path *conf.Path     `json:"path,omitzero"`
}

// Validate checks the name.
func (c *Cookie) Validate(at *diag.At) { validateName(at.Field("name"), c.Name) }

// Connection hashes the client's address.
type Connection struct {
	SourceIP *bool `json:"sourceIP,omitzero"`
}

// QueryParameter hashes the value of a query parameter. Its name is case-sensitive.
//
//confgen:openapi {"allOf": [{"properties": {"name": {"minLength": 1}}}]}
type QueryParameter struct {
	Name string `json:"name"`
}

// Validate checks the name.
func (q *QueryParameter) Validate(at *diag.At) { validateName(at.Field("name"), q.Name) }

// FilterState hashes an object that an Envoy filter has stored for the request.
//
//confgen:openapi {"allOf": [{"properties": {"key": {"minLength": 1}}}]}
type FilterState struct {
	Key string `json:"key"`
}

// Validate checks the key.
func (f *FilterState) Validate(at *diag.At) { validateName(at.Field("key"), f.Key) }

func validateNames(at *diag.At, names []string) {
	for i, name := range names {
		validateName(at.Index(i), name)
	}
}

func validateName(at *diag.At, name string) {
	if name == "" {
		at.Errorf(diag.EmptyValue, "", "must not be empty")
	}
}
