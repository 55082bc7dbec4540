package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/url"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
)

const lifetime = 24 * time.Hour

// signer signs the certificates of dataplanes. They trust each other by its CA.
type signer struct {
	ca  *x509.Certificate
	key crypto.Signer
}

// issued are the secrets `identity` and `trust` of a dataplane.
type issued struct {
	spiffeID string
	renew    time.Time // when half of the certificate's lifetime is over
	secrets  []types.Resource
}

func (s *signer) issue(spiffeID string, now time.Time) (*issued, error) {
	id, err := url.Parse(spiffeID)
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	certificate, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: serial, URIs: []*url.URL{id},
		NotBefore: now.Add(-time.Minute), NotAfter: now.Add(lifetime),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, s.ca, key.Public(), s.key)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return &issued{spiffeID: spiffeID, renew: now.Add(lifetime / 2), secrets: []types.Resource{
		&tlsv3.Secret{Name: "identity", Type: &tlsv3.Secret_TlsCertificate{TlsCertificate: &tlsv3.TlsCertificate{
			CertificateChain: encoded("CERTIFICATE", certificate), PrivateKey: encoded("PRIVATE KEY", private),
		}}},
		&tlsv3.Secret{Name: "trust", Type: &tlsv3.Secret_ValidationContext{ValidationContext: &tlsv3.CertificateValidationContext{
			TrustedCa: encoded("CERTIFICATE", s.ca.Raw),
		}}},
	}}, nil
}

func encoded(kind string, der []byte) *corev3.DataSource {
	text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	return &corev3.DataSource{Specifier: &corev3.DataSource_InlineBytes{InlineBytes: text}}
}
