package spiffe

import (
	"crypto/x509"
	"encoding/pem"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// TrustSpec is the spec of a MeshTrust.
//
//confgen:schema
type TrustSpec struct {
	// Origin is set by Kuma if it made the MeshTrust from a MeshIdentity.
	Origin      *TrustOrigin     `json:"origin,omitzero"`
	TrustDomain conf.TrustDomain `json:"trustDomain"`
	CABundles   []CABundle       `json:"caBundles"`
}

// TrustOrigin is the resource from which a MeshTrust was made.
type TrustOrigin struct {
	KRI *string `json:"kri,omitzero"`
}

// Validate checks that there is a bundle.
func (s *TrustSpec) Validate(at *diag.At) {
	if s.CABundles != nil && len(s.CABundles) == 0 {
		at.Field("caBundles").Errorf(diag.EmptyValue, "give a bundle of CA certificates", "must not be empty")
	}
}

// CABundle is one or more CA certificates.
type CABundle struct {
	Type CABundleType `json:"type" policyMerge:"discriminator"`
	Pem  *PemBundle   `json:"pem,omitzero"`
}

// CABundleType is the name of the arm of a [CABundle].
type CABundleType string

// Enum returns the allowed values.
func (CABundleType) Enum() []string { return []string{"Pem"} }

// PemBundle is certificates in PEM.
type PemBundle struct {
	Value string `json:"value"`
}

// Validate checks that the text contains certificates and nothing else.
func (b *PemBundle) Validate(at *diag.At) {
	const hint = "write the text between -----BEGIN CERTIFICATE----- and -----END CERTIFICATE-----, with these lines"
	rest := []byte(b.Value)
	for n := 0; ; n++ {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		switch {
		case block == nil && n > 0 && strings.TrimSpace(string(rest)) == "":
			return
		case block == nil:
			at.Field("value").Errorf(diag.BadCertificate, hint, "bad PEM")
			return
		case block.Type != "CERTIFICATE":
			at.Field("value").Errorf(diag.BadCertificate, hint, "must contain certificates only, not a %s", block.Type)
			return
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			at.Field("value").Errorf(diag.BadCertificate, hint, "bad certificate: %v", err)
			return
		}
	}
}
