package ca

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// Authority is the certificate and the key of a CA.
type Authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
	// intermediates are sent with each SVID, in PEM.
	intermediates []byte
	bundle        []byte
	form          *form // of its SVIDs
}

// Bundle returns the certificates with which SVIDs are verified, in PEM. The caller
// must not change it.
func (a *Authority) Bundle() []byte { return a.bundle }

const (
	certificateBlock = "CERTIFICATE"
	keyBlock         = "PRIVATE KEY"
)

// Parse returns the authority of certificates and a key, both in PEM. The first
// certificate belongs to the key. The other certificates belong to its issuers, or
// to other CAs, such as a future CA; all of them are trusted.
func Parse(certificates, key []byte) (*Authority, error) {
	a := &Authority{}
	for rest := certificates; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != certificateBlock {
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		switch {
		case err != nil:
			return nil, fmt.Errorf("bad certificate: %w", err)
		case a.certificate == nil:
			a.certificate = certificate
		}
		a.bundle = append(a.bundle, encode(certificateBlock, block.Bytes)...) // encoded again, because the text may also contain a key
		if isSelfSigned(a.certificate) || isSelfSigned(certificate) {
			continue // a root or another trusted CA is not sent
		}
		a.intermediates = append(a.intermediates, encode(certificateBlock, block.Bytes)...)
	}
	if a.certificate == nil {
		return nil, errors.New("there is no certificate in PEM")
	}
	if !a.certificate.IsCA || a.certificate.KeyUsage != 0 && a.certificate.KeyUsage&x509.KeyUsageCertSign == 0 {
		return nil, errors.New("the first certificate does not belong to a CA that may sign certificates")
	}
	signer, err := parseKey(key)
	if err != nil {
		return nil, err
	}
	public, ok := signer.Public().(interface{ Equal(crypto.PublicKey) bool })
	if !ok || !public.Equal(a.certificate.PublicKey) {
		return nil, errors.New("the private key does not belong to the first certificate")
	}
	a.key = signer
	if a.form, err = newForm(a); err != nil {
		return nil, err
	}
	return a, nil
}

func isSelfSigned(c *x509.Certificate) bool { return bytes.Equal(c.RawIssuer, c.RawSubject) }

// parseKey returns the first private key of a PEM text, in PKCS #8 or in the older
// forms for ECDSA and RSA.
func parseKey(text []byte) (crypto.Signer, error) {
	for rest := text; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return nil, errors.New("there is no private key in PEM")
		}
		var key any
		var err error
		switch block.Type {
		case keyBlock:
			key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
		case "EC PRIVATE KEY":
			key, err = x509.ParseECPrivateKey(block.Bytes)
		case "RSA PRIVATE KEY":
			key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
		default:
			continue
		}
		signer, signs := key.(crypto.Signer)
		if err != nil || !signs {
			return nil, errors.New("the private key cannot be read") // the parser's error may quote the key
		}
		return signer, nil
	}
}

// lifetime is the lifetime of the certificate of a generated authority.
const lifetime = 10 * 365 * 24 * time.Hour

// skew is the time by which the clock of a proxy may be slow.
const skew = time.Minute

// Generate returns a new authority, valid from now for ten years.
func Generate(name string, now time.Time) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{Organization: []string{"meshmatch"}, CommonName: name},
		NotBefore: now.Add(-skew), NotAfter: now.Add(lifetime),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	text, err := encodeKey(key)
	if err != nil {
		return nil, err
	}
	return Parse(encode(certificateBlock, certificate), text)
}

// PEM returns the certificates and the key.
func (a *Authority) PEM() (certificates, key []byte, err error) {
	key, err = encodeKey(a.key)
	return a.bundle, key, err
}

func encode(block string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: block, Bytes: der})
}

func encodeKey(key crypto.Signer) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return encode(keyBlock, der), nil
}
