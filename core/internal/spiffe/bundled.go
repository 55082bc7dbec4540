package spiffe

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// BundledProvider signs certificates with a CA: the one in CA, or one that it
// generates.
type BundledProvider struct {
	MeshTrustCreation       *MeshTrustCreation     `json:"meshTrustCreation,omitzero"`
	InsecureAllowSelfSigned *bool                  `json:"insecureAllowSelfSigned,omitzero"`
	CertificateParameters   *CertificateParameters `json:"certificateParameters,omitzero"`
	Autogenerate            *Autogenerate          `json:"autogenerate,omitzero"`
	CA                      *CertificateAuthority  `json:"ca,omitzero"`
}

// Validate checks that there is exactly one CA.
func (b *BundledProvider) Validate(at *diag.At) {
	switch generated := b.Autogenerate != nil && b.Autogenerate.Enabled != nil && *b.Autogenerate.Enabled; {
	case generated && b.CA != nil:
		at.Field("ca").Errorf(diag.BothPresent, "remove one", "ca and autogenerate are both present")
	case !generated && b.CA == nil:
		at.Field("ca").Errorf(diag.MissingField, "or write autogenerate: {enabled: true}", "required field is missing")
	}
}

// IsTrusted reports whether the CA is trusted without a MeshTrust that contains it.
func (b *BundledProvider) IsTrusted() bool {
	return b.MeshTrustCreation == nil || *b.MeshTrustCreation != meshTrustDisabled
}

// MeshTrustCreation determines whether the CA is published as a MeshTrust.
type MeshTrustCreation string

// meshTrustDisabled means that the CA is trusted only through MeshTrusts that contain it.
const meshTrustDisabled MeshTrustCreation = "Disabled"

// Enum returns the allowed values.
func (MeshTrustCreation) Enum() []string { return []string{"Enabled", string(meshTrustDisabled)} }

// CertificateParameters are parameters of the signed certificates.
type CertificateParameters struct {
	Expiry *conf.PositiveDuration `json:"expiry,omitzero"`
}

// Autogenerate determines whether the provider generates a CA.
type Autogenerate struct {
	Enabled *bool `json:"enabled,omitzero"`
}

// CertificateAuthority is the certificate and the key of a CA.
type CertificateAuthority struct {
	Certificate DataSource `json:"certificate"`
	PrivateKey  DataSource `json:"privateKey"`
}

// DataSource is the source of a certificate or a key. Its Type names the only other field
// that it has.
//
//confgen:openapi {"oneOf": [{"properties": {"type": {"enum": ["File"]}}, "required": ["file"], "not": {"anyOf": [{"required": ["envVar"]}, {"required": ["secretRef"]}, {"required": ["insecureInline"]}]}}, {"properties": {"type": {"enum": ["EnvVar"]}}, "required": ["envVar"], "not": {"anyOf": [{"required": ["file"]}, {"required": ["secretRef"]}, {"required": ["insecureInline"]}]}}, {"properties": {"type": {"enum": ["Secret", "SecretRef"]}}, "required": ["secretRef"], "not": {"anyOf": [{"required": ["file"]}, {"required": ["envVar"]}, {"required": ["insecureInline"]}]}}, {"properties": {"type": {"enum": ["InsecureInline"]}}, "required": ["insecureInline"], "not": {"anyOf": [{"required": ["file"]}, {"required": ["envVar"]}, {"required": ["secretRef"]}]}}]}
type DataSource struct {
	Type           DataSourceType `json:"type"`
	File           *FileSource    `json:"file,omitzero"`
	EnvVar         *EnvVarSource  `json:"envVar,omitzero"`
	SecretRef      *SecretSource  `json:"secretRef,omitzero"`
	InsecureInline *InlineSource  `json:"insecureInline,omitzero"`
}

// DataSourceType is the type of a [DataSource].
type DataSourceType string

// Enum returns the allowed values. Secret is Kuma's name of the type with a secretRef;
// SecretRef is accepted too.
func (DataSourceType) Enum() []string {
	return []string{"File", "EnvVar", "Secret", "SecretRef", "InsecureInline"}
}

// Validate checks that there is the field of the type, and no other. Without a valid type, no
// field is wrong.
func (d *DataSource) Validate(at *diag.At) {
	if !slices.Contains(d.Type.Enum(), string(d.Type)) {
		return
	}
	for _, arm := range []struct {
		field   string
		present bool
		types   []DataSourceType
	}{
		{"file", d.File != nil, []DataSourceType{"File"}},
		{"envVar", d.EnvVar != nil, []DataSourceType{"EnvVar"}},
		{"secretRef", d.SecretRef != nil, []DataSourceType{"Secret", "SecretRef"}},
		{"insecureInline", d.InsecureInline != nil, []DataSourceType{"InsecureInline"}},
	} {
		switch mine := slices.Contains(arm.types, d.Type); {
		case mine && !arm.present:
			at.Field(arm.field).Errorf(diag.MissingField, "", "is required for type %q", d.Type)
		case !mine && arm.present:
			at.Field(arm.field).Errorf(diag.FieldNotAllowed, "remove it or change the type", "is not allowed with type %q", d.Type)
		}
	}
}

// FileSource is a file on the machine that needs the data.
type FileSource struct {
	Path conf.Path `json:"path"`
}

// EnvVarSource is an environment variable.
type EnvVarSource struct {
	Name string `json:"name"`
}

// SecretSource is a secret of the platform.
type SecretSource struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// InlineSource is the data itself.
type InlineSource struct {
	Value string `json:"value"`
}
