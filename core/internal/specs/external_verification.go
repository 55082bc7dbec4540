package specs

import (
	"encoding/base64"
	"slices"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// Verification determines how a proxy verifies the certificate of an external
// service, and which certificate it presents.
//
//confgen:openapi {"allOf": [{"anyOf": [{"required": ["clientCert", "clientKey"]}, {"not": {"anyOf": [{"required": ["clientCert"]}, {"required": ["clientKey"]}]}}]}]}
type Verification struct {
	Mode            VerificationMode `json:"mode,omitzero"` // empty: Secured
	ServerName      string           `json:"serverName,omitzero"`
	SubjectAltNames []SubjectAltName `json:"subjectAltNames,omitzero"`
	CACert          *Certificate     `json:"caCert,omitzero"`
	ClientCert      *Certificate     `json:"clientCert,omitzero"`
	ClientKey       *Certificate     `json:"clientKey,omitzero"`
}

// Validate checks that a client certificate has a key.
func (v *Verification) Validate(at *diag.At) {
	switch {
	case v.ClientCert != nil && v.ClientKey == nil:
		at.Field("clientKey").Errorf(diag.MissingField, "a clientCert needs one", "required field is missing")
	case v.ClientCert == nil && v.ClientKey != nil:
		at.Field("clientCert").Errorf(diag.MissingField, "a clientKey needs one", "required field is missing")
	}
}

// ChecksCA reports whether the certificate of the service must be signed by a CA.
func (v *Verification) ChecksCA() bool { return v.Mode != SkipCA && v.Mode != SkipAll }

// ChecksNames reports whether the certificate of the service must have one of the names.
func (v *Verification) ChecksNames() bool { return v.ChecksCA() && v.Mode != SkipSAN }

// UsesServerName reports whether ServerName has an effect.
func (v *Verification) UsesServerName() bool {
	return v.ServerName != "" && v.Mode != SkipSAN && v.Mode != SkipAll
}

// PresentsClientCert reports whether proxies present the ClientCert.
func (v *Verification) PresentsClientCert() bool { return v.ClientCert != nil && v.Mode != SkipAll }

// VerificationMode determines which parts of a certificate are verified.
type VerificationMode string

// The modes.
const (
	Secured VerificationMode = "Secured"
	SkipSAN VerificationMode = "SkipSAN"
	SkipCA  VerificationMode = "SkipCA"
	SkipAll VerificationMode = "SkipAll"
)

// Enum returns the allowed values.
func (VerificationMode) Enum() []string { return conf.Words(Secured, SkipSAN, SkipCA, SkipAll) }

// SubjectAltName is a name that the certificate may have.
type SubjectAltName struct {
	Type  SubjectAltNameType `json:"type,omitzero"` // empty: Exact
	Value string             `json:"value"`
}

// SubjectAltNameType determines how a [SubjectAltName] is compared.
type SubjectAltNameType string

// The types.
const (
	ExactName  SubjectAltNameType = "Exact"
	PrefixName SubjectAltNameType = "Prefix"
)

// Enum returns the allowed values.
func (SubjectAltNameType) Enum() []string { return conf.Words(ExactName, PrefixName) }

// Certificate is a certificate or a key. The form of Kuma 2 has one of Secret,
// Inline and InlineString; the form of Kuma 3 has a Type and the part for that type.
//
//confgen:openapi {"oneOf": [{"required": ["secret"]}, {"required": ["inline"]}, {"required": ["inlineString"]}, {"required": ["type"]}]}
type Certificate struct {
	Secret       *string `json:"secret,omitzero"` // the name of a Secret
	Inline       *string `json:"inline,omitzero"` // in base64
	InlineString *string `json:"inlineString,omitzero"`

	Type           CertificateType `json:"type,omitzero"`
	SecretRef      *SecretRef      `json:"secretRef,omitzero"`
	InsecureInline *InlineValue    `json:"insecureInline,omitzero"`
}

// CertificateType names a part of a [Certificate].
type CertificateType string

// The types.
const (
	SecretCertificate CertificateType = "Secret"
	InlineCertificate CertificateType = "InsecureInline"
)

// Enum returns the allowed values.
func (CertificateType) Enum() []string { return conf.Words(SecretCertificate, InlineCertificate) }

// SecretRef is a reference to a Secret.
type SecretRef struct {
	Kind SecretRefKind `json:"kind"`
	Name string        `json:"name"`
}

// SecretRefKind is the kind of a [SecretRef].
type SecretRefKind string

// Enum returns the only allowed value.
func (SecretRefKind) Enum() []string { return []string{"Secret"} }

// InlineValue is a text in the document itself.
type InlineValue struct {
	Value string `json:"value"`
}

// Validate checks that there is one source. A part needs its type; with a type that does not exist,
// no part is wrong.
func (c *Certificate) Validate(at *diag.At) {
	hasPart := c.SecretRef != nil || c.InsecureInline != nil
	exactlyOne(at, "the certificate or key", []presence{
		{"secret", c.Secret != nil}, {"inline", c.Inline != nil}, {"inlineString", c.InlineString != nil}, {"type", c.Type != "" || hasPart},
	})
	if c.Inline != nil {
		if _, err := base64.StdEncoding.DecodeString(*c.Inline); err != nil {
			at.Field("inline").Errorf(diag.BadValue, "or use inlineString", "bad base64")
		}
	}
	if hasPart && c.Type == "" {
		at.Field("type").Errorf(diag.MissingField, "", "is required for secretRef and insecureInline")
	}
	if !slices.Contains(c.Type.Enum(), string(c.Type)) {
		return
	}
	for _, part := range []struct {
		of      CertificateType
		field   string
		present bool
	}{{SecretCertificate, "secretRef", c.SecretRef != nil}, {InlineCertificate, "insecureInline", c.InsecureInline != nil}} {
		switch {
		case part.of == c.Type && !part.present:
			at.Field(part.field).Errorf(diag.MissingField, "", "is required for type %q", c.Type)
		case part.of != c.Type && part.present:
			at.Field(part.field).Errorf(diag.FieldNotAllowed, "remove it", "does not belong to type %q", c.Type)
		}
	}
}

// SecretName returns the name of the Secret that contains the certificate or key, or false
// if it is in the document itself.
func (c *Certificate) SecretName() (name string, inSecret bool) {
	switch {
	case c.Secret != nil:
		return *c.Secret, true
	case c.SecretRef != nil:
		return c.SecretRef.Name, true
	}
	return "", false
}
