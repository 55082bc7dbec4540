package spiffe

import (
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/template"
)

// IdentitySpec is the spec of a MeshIdentity.
//
//confgen:schema
type IdentitySpec struct {
	Selector *IdentitySelector `json:"selector,omitzero"`
	SpiffeID *IDTemplate       `json:"spiffeID,omitzero" alias:"spiffeId"`
	Provider IdentityProvider  `json:"provider"`
}

// IdentitySelector selects dataplanes. If Dataplane is nil it selects none.
type IdentitySelector struct {
	Dataplane *LabelSelector `json:"dataplane,omitzero"`
}

// LabelSelector selects objects that have all of the labels; without labels it selects
// every object.
type LabelSelector struct {
	MatchLabels map[string]string `json:"matchLabels,omitzero"`
}

// IDTemplate is the two parts of a SPIFFE ID; nil means the default.
type IDTemplate struct {
	TrustDomain *template.Template `json:"trustDomain,omitzero"`
	Path        *template.Template `json:"path,omitzero"`
}

// Validate checks that the path is absolute, if it begins with text.
func (s *IDTemplate) Validate(at *diag.At) {
	if s.TrustDomain != nil && *s.TrustDomain == "" {
		at.Field("trustDomain").Errorf(diag.EmptyValue, "leave it out for the default", "must not be empty")
	}
	if s.Path != nil && (*s.Path == "" || (*s.Path)[0] != '/') {
		path := at.Field("path")
		path.If(diag.AsTargetRef).Errorf(diag.BadPath, "", "must be a path that starts with /")
		domain := "{{ .TrustDomain }}"
		if s.TrustDomain != nil {
			domain = string(*s.TrustDomain)
		}
		path.If(diag.AsKuma).Warnf(diag.DerivedIdentity, "begin the path with a slash", "Kuma appends the path to the trust domain: the ID is spiffe://%s%s", domain, *s.Path)
	}
}

// IdentityProvider is the source of certificates.
type IdentityProvider struct {
	Type      IdentityProviderType `json:"type" policyMerge:"discriminator"`
	Bundled   *BundledProvider     `json:"bundled,omitzero"`
	Spire     *SpireProvider       `json:"spire,omitzero"`
	Extension *ExtensionProvider   `json:"extension,omitzero"`
}

// IdentityProviderType is the name of the arm of an [IdentityProvider].
type IdentityProviderType string

// The types of providers.
const (
	Bundled   IdentityProviderType = "Bundled"
	Spire     IdentityProviderType = "Spire"
	Extension IdentityProviderType = "Extension"
)

// Enum returns the allowed values.
func (IdentityProviderType) Enum() []string { return conf.Words(Bundled, Spire, Extension) }

// Validate checks that a provider that needs a configuration has one.
func (p *IdentityProvider) Validate(at *diag.At) {
	switch {
	case p.Type == Bundled && p.Bundled == nil:
		at.Field("bundled").Errorf(diag.MissingField, "", `is required for type "Bundled"`)
	case p.Type == Extension && p.Extension == nil:
		at.Field("extension").Errorf(diag.MissingField, "", `is required for type "Extension"`)
	}
}

// SpireProvider is a SPIRE agent on the machine of the proxy.
type SpireProvider struct {
	Agent *SpireAgent `json:"agent,omitzero"`
}

// SpireAgent describes how to reach the agent.
type SpireAgent struct {
	Timeout *conf.PositiveDuration `json:"timeout,omitzero"`
}

// ExtensionProvider is a provider by name. The only one is "files": the paths
// of files on the machine of the proxy.
type ExtensionProvider struct {
	Name   ExtensionName  `json:"name"`
	Config *IdentityFiles `json:"config,omitzero"`
}

// ExtensionName is the name of an extension.
type ExtensionName string

// Enum returns the allowed values.
func (ExtensionName) Enum() []string { return []string{"files"} }

// IdentityFiles are the paths of PEM files on the machine of the proxy.
type IdentityFiles struct {
	Certificate template.Template `json:"certificate"`
	PrivateKey  template.Template `json:"privateKey"`
	TrustBundle template.Template `json:"trustBundle"`
}

// Validate checks that no path is empty: Envoy refuses such a secret.
func (f *IdentityFiles) Validate(at *diag.At) {
	for _, path := range []struct {
		field string
		value template.Template
	}{{"certificate", f.Certificate}, {"privateKey", f.PrivateKey}, {"trustBundle", f.TrustBundle}} {
		if path.value == "" {
			at.Field(path.field).Errorf(diag.EmptyValue, "give the path of a file on the machine of the proxy", "must not be empty")
		}
	}
}

// Validate checks that there are files.
func (e *ExtensionProvider) Validate(at *diag.At) {
	if e.Config == nil {
		at.Field("config").Errorf(diag.MissingField, "", "required field is missing")
	}
}
