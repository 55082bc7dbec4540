package specs

import (
	"encoding/base64"

	"github.com/meshmatch/meshmatch/core/diag"
)

// Secret is the content of a Secret.
type Secret struct {
	Data SecretData `json:"data,omitzero"`
}

// SecretData is a content in base64. It may be empty, because a control plane may not show
// it.
type SecretData string

// Text returns the content, which must be valid.
func (s SecretData) Text() string {
	decoded, _ := base64.StdEncoding.DecodeString(string(s))
	return string(decoded)
}

// Validate checks the encoding. The error does not show the content.
func (s SecretData) Validate(at *diag.At) {
	if _, err := base64.StdEncoding.DecodeString(string(s)); err != nil {
		at.Errorf(diag.BadValue, "encode the content", "bad base64")
	}
}
