package resource

import (
	"encoding/base64"

	"github.com/meshmatch/meshmatch/core/diag"
)

// Secret contains a certificate or a key, to which the MeshExternalServices of its mesh
// refer by its name (SPEC 17.2). Its JSON has the content: do not show it to users.
type Secret struct{ ObjectOf[SecretSpec] }

// SecretSpec is the content of a Secret.
type SecretSpec struct {
	Data SecretData `json:"data,omitzero"`
}

// SecretData is a content in base64. It may be empty, because a control plane may not show
// it.
type SecretData string

// Validate checks the encoding. The error does not show the content.
func (s SecretData) Validate(at *diag.At) {
	if _, err := base64.StdEncoding.DecodeString(string(s)); err != nil {
		at.Errorf(diag.BadValue, "encode the content", "bad base64")
	}
}

// Text returns the content of a valid Secret.
func (s *Secret) Text() string {
	decoded, _ := base64.StdEncoding.DecodeString(string(s.Spec.Data)) // validated
	return string(decoded)
}

// SecretName returns the name of the Secret that contains the certificate or key, or false
// if it is in the document itself.
func (c *Certificate) SecretName() (name string, is bool) {
	switch {
	case c.Secret != nil:
		return *c.Secret, true
	case c.SecretRef != nil:
		return c.SecretRef.Name, true
	}
	return "", false
}
