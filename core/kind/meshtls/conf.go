package meshtls

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen

// Conf contains the settings of a MeshTLS for an inbound.
//
//confgen:conf schema
type Conf struct {
	TLSVersion *Version `json:"tlsVersion,omitzero"`
	// TLSCiphers are the accepted ciphers up to TLS 1.2.
	TLSCiphers []Cipher `json:"tlsCiphers,omitzero"`
	// Mode is Strict if it is nil.
	Mode *Mode `json:"mode,omitzero"`
}

// WithSchemaDefaults completes a range that has only one bound. Kuma stores TLSAuto for
// the other bound, which therefore overrides the bound of a lower item.
func (c *Conf) WithSchemaDefaults() (resource.Conf, []string) {
	if c.TLSVersion == nil || c.TLSVersion.Min != nil && c.TLSVersion.Max != nil {
		return c, nil
	}
	var pointers []string
	completed, version, auto := *c, *c.TLSVersion, TLSAuto
	if version.Min == nil {
		version.Min, pointers = &auto, append(pointers, "/tlsVersion/min")
	}
	if version.Max == nil {
		version.Max, pointers = &auto, append(pointers, "/tlsVersion/max")
	}
	completed.TLSVersion = &version
	return &completed, pointers
}

// Mode determines whether unencrypted connections are accepted.
type Mode string

// The modes: unencrypted connections are refused, or also accepted.
const (
	Strict     Mode = "Strict"
	Permissive Mode = "Permissive"
)

// Enum returns the allowed values.
func (Mode) Enum() []string { return conf.Words(Strict, Permissive) }

// Version is the range of accepted TLS versions.
type Version struct {
	Min *TLSVersion `json:"min,omitzero"`
	Max *TLSVersion `json:"max,omitzero"`
}

// Validate checks that the minimum is not later than the maximum.
func (v *Version) Validate(at *diag.At) {
	conf.WarnIdle(at, v)
	if v.Min == nil || v.Max == nil || !v.Min.numbered() || !v.Max.numbered() {
		return
	}
	if *v.Min > *v.Max { // the constants sort in the order of the versions
		at.Field("min").Errorf(diag.OutOfRange, "", "must not be later than max (%s)", *v.Max)
	}
}

// TLSVersion is a version of TLS.
type TLSVersion string

// The versions; TLSAuto leaves the choice to Envoy.
const (
	TLSAuto TLSVersion = "TLSAuto"
	TLS10   TLSVersion = "TLS10"
	TLS11   TLSVersion = "TLS11"
	TLS12   TLSVersion = "TLS12"
	TLS13   TLSVersion = "TLS13"
)

// numbered reports whether the version is one of TLS10 to TLS13.
func (v TLSVersion) numbered() bool { return v != TLSAuto && slices.Contains(v.Enum(), string(v)) }

// Enum returns the allowed values.
func (TLSVersion) Enum() []string { return conf.Words(TLSAuto, TLS10, TLS11, TLS12, TLS13) }

// Cipher is a cipher suite in OpenSSL's spelling.
type Cipher string

// Enum returns the suites that give forward secrecy and authenticated
// encryption.
func (Cipher) Enum() []string {
	return []string{
		"ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305",
		"ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-CHACHA20-POLY1305",
	}
}
