package destination

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Unreachable reports why no proxy connects to a MeshExternalService: it returns the field
// that prevents it, and the reason (SPEC 17.4). Both are empty if proxies connect to it.
func Unreachable(s *resource.MeshExternalService) (path, why string) {
	switch {
	case s.Spec.Extension != nil:
		return "spec.extension", "its endpoints are in a form that is not known here"
	case !s.UsesTLS():
		return "", ""
	}
	v := s.Verification()
	const field = "spec.tls.verification."
	if ca := v.CACert; ca != nil && v.ChecksCA() {
		text, inline := PEM(ca)
		switch {
		case !inline:
			return field + "caCert", inSecret
		case !x509.NewCertPool().AppendCertsFromPEM([]byte(text)):
			return field + "caCert", "it has no certificate in PEM"
		}
	}
	if !v.PresentsClientCert() {
		return "", ""
	}
	certificate, certificateInline := PEM(v.ClientCert)
	key, keyInline := PEM(v.ClientKey)
	if !certificateInline {
		return field + "clientCert", inSecret
	}
	if !keyInline {
		return field + "clientKey", inSecret
	}
	if _, err := tls.X509KeyPair([]byte(certificate), []byte(key)); err != nil {
		return field + "clientCert", "it is not a PEM certificate for the clientKey"
	}
	return "", ""
}

const inSecret = "it is in a Secret, which is not read; give it in inline or inlineString"

// PEM returns the text of a certificate or key, or false if it is in a Secret.
func PEM(c *resource.Certificate) (text string, inline bool) {
	switch {
	case c.Inline != nil:
		decoded, err := base64.StdEncoding.DecodeString(*c.Inline)
		return string(decoded), err == nil
	case c.InlineString != nil:
		return *c.InlineString, true
	case c.InsecureInline != nil:
		return c.InsecureInline.Value, true
	}
	return "", false
}
