package meshhealthcheck

import (
	"encoding/base64"

	"github.com/meshmatch/meshmatch/core/diag"
)

// Base64 is bytes, encoded in base64.
type Base64 string

// Validate checks that the text can be decoded.
func (b Base64) Validate(at *diag.At) {
	if _, err := base64.StdEncoding.DecodeString(string(b)); err != nil {
		at.Errorf("encode the bytes", "bad base64: %v", err)
	}
}

// Bytes returns the bytes.
func (b Base64) Bytes() []byte {
	bytes, _ := base64.StdEncoding.DecodeString(string(b)) // validated
	return bytes
}
