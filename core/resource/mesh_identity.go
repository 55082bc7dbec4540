package resource

import (
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// MeshIdentity gives SPIFFE IDs to the dataplanes that it selects, and
// describes where their certificates come from (SPEC 11.6). Package identity
// evaluates it.
type MeshIdentity struct {
	Meta
	Spec MeshIdentitySpec
}

// KRI returns the identifier of the resource.
func (m *MeshIdentity) KRI() string { return KRI(meshIdentityShort, &m.Meta, "") }

// MeshIdentitySpec is a MeshIdentity as it is written.
type MeshIdentitySpec struct {
	Selector *IdentitySelector `json:"selector,omitzero"`
	SpiffeID *SpiffeIDTemplate `json:"spiffeID,omitzero" alias:"spiffeId"`
	Provider IdentityProvider  `json:"provider"`
}

// IdentitySelector selects dataplanes. Without Dataplane it selects none.
type IdentitySelector struct {
	Dataplane *LabelSelector `json:"dataplane,omitzero"`
}

// LabelSelector selects what has all of the labels; without labels it selects
// everything.
type LabelSelector struct {
	MatchLabels map[string]string `json:"matchLabels,omitzero"`
}

// SpiffeIDTemplate is the two parts of a SPIFFE ID; nil means the default.
type SpiffeIDTemplate struct {
	TrustDomain *conf.Template `json:"trustDomain,omitzero"`
	Path        *conf.Template `json:"path,omitzero"`
}

// Validate checks that the path is absolute, if it begins with text.
func (s *SpiffeIDTemplate) Validate(at *diag.At) {
	if s.TrustDomain != nil && *s.TrustDomain == "" {
		at.Field("trustDomain").Errorf("leave it out for the default", "must not be empty")
	}
	if s.Path != nil && (*s.Path == "" || (*s.Path)[0] != '/') {
		at.Field("path").Errorf("", "must be a path that starts with /")
	}
}

// IdentityProvider is where certificates come from.
type IdentityProvider struct {
	Type      IdentityProviderType `json:"type" policyMerge:"discriminator"`
	Bundled   *BundledProvider     `json:"bundled,omitzero"`
	Spire     *SpireProvider       `json:"spire,omitzero"`
	Extension *ExtensionProvider   `json:"extension,omitzero"`
}

// IdentityProviderType names the arm of an [IdentityProvider].
type IdentityProviderType string

// The types of providers.
const (
	Bundled   IdentityProviderType = "Bundled"
	Spire     IdentityProviderType = "Spire"
	Extension IdentityProviderType = "Extension"
)

// Enum returns the words.
func (IdentityProviderType) Enum() []string {
	return []string{string(Bundled), string(Spire), string(Extension)}
}

// Validate checks that a provider that needs a configuration has one.
func (p *IdentityProvider) Validate(at *diag.At) {
	switch {
	case p.Type == Bundled && p.Bundled == nil:
		at.Field("bundled").Errorf("", `is required for type "Bundled"`)
	case p.Type == Extension && p.Extension == nil:
		at.Field("extension").Errorf("", `is required for type "Extension"`)
	}
}

// BundledProvider signs certificates with a CA: the one of CA or one of its
// own.
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
		at.Field("ca").Errorf("remove one", "ca and autogenerate are both present")
	case !generated && b.CA == nil:
		at.Field("ca").Errorf("or write autogenerate: {enabled: true}", "required field is missing")
	}
}

// IsTrusted reports whether the CA is trusted without a MeshTrust that contains it.
func (b *BundledProvider) IsTrusted() bool {
	return b.MeshTrustCreation == nil || *b.MeshTrustCreation != MeshTrustDisabled
}

// MeshTrustCreation is whether the CA is published as a MeshTrust.
type MeshTrustCreation string

// MeshTrustDisabled means that the CA is trusted only by MeshTrusts that contain it.
const MeshTrustDisabled MeshTrustCreation = "Disabled"

// Enum returns the words.
func (MeshTrustCreation) Enum() []string { return []string{"Enabled", string(MeshTrustDisabled)} }

// CertificateParameters are those of the certificates that are signed.
type CertificateParameters struct {
	Expiry *conf.PositiveDuration `json:"expiry,omitzero"`
}

// Autogenerate is whether the provider makes a CA of its own.
type Autogenerate struct {
	Enabled *bool `json:"enabled,omitzero"`
}

// CertificateAuthority is the certificate and the key of a CA.
type CertificateAuthority struct {
	Certificate DataSource `json:"certificate"`
	PrivateKey  DataSource `json:"privateKey"`
}

// DataSource is where a certificate or key is read from.
type DataSource struct {
	Type           DataSourceType `json:"type" policyMerge:"discriminator"`
	File           *FileSource    `json:"file,omitzero"`
	EnvVar         *EnvVarSource  `json:"envVar,omitzero"`
	SecretRef      *SecretSource  `json:"secretRef,omitzero"`
	InsecureInline *InlineSource  `json:"insecureInline,omitzero"`
}

// DataSourceType names the arm of a [DataSource].
type DataSourceType string

// Enum returns the words.
func (DataSourceType) Enum() []string {
	return []string{"File", "EnvVar", "SecretRef", "InsecureInline"}
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

// SpireProvider is a SPIRE agent on the proxy's machine.
type SpireProvider struct {
	Agent *SpireAgent `json:"agent,omitzero"`
}

// SpireAgent describes how the agent is reached.
type SpireAgent struct {
	Timeout *conf.PositiveDuration `json:"timeout,omitzero"`
}

// ExtensionProvider is a provider by name. The only one is "files": the paths
// of files on the proxy's machine.
type ExtensionProvider struct {
	Name   ExtensionName  `json:"name"`
	Config *IdentityFiles `json:"config,omitzero"`
}

// ExtensionName is the name of an extension.
type ExtensionName string

// Enum returns the words.
func (ExtensionName) Enum() []string { return []string{"files"} }

// IdentityFiles are the paths of PEM files on the proxy's machine.
type IdentityFiles struct {
	Certificate conf.Template `json:"certificate"`
	PrivateKey  conf.Template `json:"privateKey"`
	TrustBundle conf.Template `json:"trustBundle"`
}

// Validate checks that there are files.
func (e *ExtensionProvider) Validate(at *diag.At) {
	if e.Config == nil {
		at.Field("config").Errorf("", "required field is missing")
	}
}
