package destination

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"

	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Unreachable reports why no proxy connects to a MeshExternalService: it returns the field
// that prevents it, and the reason (SPEC 17.4). Both are empty if proxies connect to it.
func (s *Directory) Unreachable(m *resource.MeshExternalService) (path, why string) {
	switch {
	case m.Spec.Extension != nil:
		return "spec.extension", "its endpoints are in a form that is not known here"
	case !m.UsesTLS():
		return "", ""
	}
	v := m.Verification()
	const field = "spec.tls.verification."
	if ca := v.CACert; ca != nil && v.ChecksCA() {
		text, why := s.PEM(m, ca)
		if why == "" && !x509.NewCertPool().AppendCertsFromPEM([]byte(text)) {
			why = "it has no certificate in PEM"
		}
		if why != "" {
			return field + "caCert", why
		}
	}
	if !v.PresentsClientCert() {
		return "", ""
	}
	certificate, why := s.PEM(m, v.ClientCert)
	if why != "" {
		return field + "clientCert", why
	}
	key, why := s.PEM(m, v.ClientKey)
	if why != "" {
		return field + "clientKey", why
	}
	if _, err := tls.X509KeyPair([]byte(certificate), []byte(key)); err != nil {
		return field + "clientCert", "it is not a PEM certificate for the clientKey"
	}
	return "", ""
}

// PEM returns the text of a certificate or key of a MeshExternalService, or why there is none.
func (s *Directory) PEM(m *resource.MeshExternalService, c *specs.Certificate) (text, why string) {
	if name, is := c.SecretName(); is {
		secret, why := s.secret(m, name)
		if why != "" {
			return "", why
		}
		return secret.Spec.Data.Text(), ""
	}
	switch {
	case c.Inline != nil:
		decoded, err := base64.StdEncoding.DecodeString(*c.Inline)
		if err != nil {
			return "", "it is not in base64"
		}
		return string(decoded), ""
	case c.InlineString != nil:
		return *c.InlineString, ""
	case c.InsecureInline != nil:
		return c.InsecureInline.Value, ""
	}
	return "", "it is empty"
}

// Secrets returns the Secrets to which the certificates and keys of a MeshExternalService
// refer, in the order of the fields; nil for those that the mesh lacks, or proxies do not get.
func (s *Directory) Secrets(m *resource.MeshExternalService) (secrets []*resource.ObjectOf[specs.Secret]) {
	if !m.UsesTLS() {
		return nil
	}
	v := m.Verification()
	for _, c := range []*specs.Certificate{v.CACert, v.ClientCert, v.ClientKey} {
		if c == nil {
			continue
		}
		if name, is := c.SecretName(); is {
			secret, _ := s.secret(m, name)
			secrets = append(secrets, secret)
		}
	}
	return secrets
}
