package envoytest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// T is what an [Authority] needs of a test, which ends if a certificate cannot be made.
type T interface{ Fatal(args ...any) }

// An Authority is a CA for one test.
type Authority struct {
	Certificate *x509.Certificate

	key    *ecdsa.PrivateKey
	mu     sync.Mutex
	issued map[string]tls.Certificate // by usage and URIs
}

// NewAuthority returns a CA whose own certificate has no name.
func NewAuthority(t T) *Authority {
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &Authority{Certificate: certificate, key: key, issued: map[string]tls.Certificate{}}
}

func newKey(t T) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// A Usage is what a certificate may be used for. The zero Usage adds no extension.
type Usage struct {
	Key      x509.KeyUsage
	Extended []x509.ExtKeyUsage
}

// Workload is the usage of workloads: they are clients and servers.
var Workload = Usage{x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}}

// Issue returns a certificate for clients and servers with the URI SANs, in their
// order. The same URIs get the same certificate.
func (a *Authority) Issue(t T, uris ...string) tls.Certificate {
	return a.IssueFor(t, Workload, uris...)
}

// IssueFor is Issue for another usage.
func (a *Authority) IssueFor(t T, usage Usage, uris ...string) tls.Certificate {
	a.mu.Lock()
	defer a.mu.Unlock()
	name := fmt.Sprint(usage, strings.Join(uris, "\n"))
	if known, ok := a.issued[name]; ok {
		return known
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(int64(len(a.issued) + 2)),
		Subject:      pkix.Name{CommonName: "leaf"}, // not the CA's name, or it is self-issued
		NotBefore:    time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: usage.Key, ExtKeyUsage: usage.Extended,
	}
	if len(uris) > 0 {
		names, err := alternativeNames(uris)
		if err != nil {
			t.Fatal(err)
		}
		template.ExtraExtensions = []pkix.Extension{names}
	}
	key := newKey(t)
	der, err := x509.CreateCertificate(rand.Reader, template, a.Certificate, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	certificate := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	a.issued[name] = certificate
	return certificate
}

// IssueHost returns a certificate for a server with a host name or an IP address. Each call
// makes another one.
func (a *Authority) IssueHost(t T, name string) tls.Certificate {
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1 << 32), Subject: pkix.Name{CommonName: "host"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: Workload.Key, ExtKeyUsage: Workload.Extended,
	}
	if ip := net.ParseIP(name); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{name}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.Certificate, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// alternativeNames returns the extension with the URI SANs as they are written: package
// x509 would write SPIFFE:// in lower case.
func alternativeNames(uris []string) (pkix.Extension, error) {
	const uriTag = 6 // RFC 5280, 4.2.1.6
	names := make([]asn1.RawValue, len(uris))
	for i, uri := range uris {
		names[i] = asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: uriTag, Bytes: []byte(uri)}
	}
	value, err := asn1.Marshal(names)
	return pkix.Extension{Id: asn1.ObjectIdentifier{2, 5, 29, 17}, Value: value}, err
}

// Bundle returns the CA's certificate in PEM.
func (a *Authority) Bundle() string { return CertificatePEM(a.Certificate.Raw) }

// WriteFiles writes the certificate with the URI SANs to NAME.pem, its key to
// NAME.key and the CA's certificate to ca.pem, all in dir. An Envoy that reads a file at
// the same time reads all of it.
func (a *Authority) WriteFiles(t T, dir, name string, uris ...string) {
	a.write(t, dir, name, a.Issue(t, uris...))
}

// WriteHostFiles is WriteFiles for a server with a host name or an IP address, which is also
// the name of the files.
func (a *Authority) WriteHostFiles(t T, dir, host string) {
	a.write(t, dir, host, a.IssueHost(t, host))
}

func (a *Authority) write(t T, dir, name string, certificate tls.Certificate) {
	for file, content := range map[string]string{
		name + ".pem": CertificatePEM(certificate.Certificate[0]),
		name + ".key": KeyPEM(t, certificate),
		"ca.pem":      a.Bundle(),
	} {
		next := filepath.Join(dir, name+"."+file)
		if err := os.WriteFile(next, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
	}
}

// CertificatePEM returns a certificate in PEM.
func CertificatePEM(der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// KeyPEM returns the private key of a certificate in PEM.
func KeyPEM(t T, certificate tls.Certificate) string {
	der, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}
