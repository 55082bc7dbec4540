package ca

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/url"
	"strings"
	"testing"
	"time"
)

var today = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// authorityOf returns a CA with a key of any kind.
func authorityOf(t testing.TB, key crypto.Signer, template *x509.Certificate) *Authority {
	t.Helper()
	template.SerialNumber, template.IsCA, template.BasicConstraintsValid = big.NewInt(7), true, true
	template.NotBefore, template.NotAfter = today.AddDate(-1, 0, 0), today.AddDate(60, 0, 0)
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	text, err := encodeKey(key)
	if err != nil {
		t.Fatal(err)
	}
	authority, err := Parse(encode(certificateBlock, der), text)
	if err != nil {
		t.Fatal(err)
	}
	return authority
}

func signer[K crypto.Signer](t testing.TB) func(K, error) crypto.Signer {
	return func(key K, err error) crypto.Signer {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
}

// TestIssuesAsX509 compares what is signed with what crypto/x509 signs of the same key, number, times
// and name, for all kinds of CAs.
func TestIssuesAsX509(t *testing.T) {
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	authorities := map[string]*Authority{
		"P-256":                  authorityOf(t, signer[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)), &x509.Certificate{Subject: pkix.Name{CommonName: "ca"}}),
		"P-384 without a name":   authorityOf(t, signer[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(elliptic.P384(), rand.Reader)), &x509.Certificate{}),
		"P-521 with a long name": authorityOf(t, signer[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(elliptic.P521(), rand.Reader)), &x509.Certificate{Subject: pkix.Name{CommonName: strings.Repeat("n", 64), Organization: []string{"ö", "b"}}}),
		"RSA with an own key ID": authorityOf(t, signer[*rsa.PrivateKey](t)(rsa.GenerateKey(rand.Reader, 2048)), &x509.Certificate{SubjectKeyId: []byte("own")}),
		"Ed25519":                authorityOf(t, signer[ed25519.PrivateKey](t)(edwards, err), &x509.Certificate{Subject: pkix.Name{CommonName: "ca"}}),
	}
	names := []string{
		"spiffe://td", "spiffe://td/ns/web/sa/web", "spiffe://td/" + strings.Repeat("a", 100), "spiffe://td/" + strings.Repeat("b", 2030),
		"spiffe://td/" + strings.Repeat("c", 70_000), "spiffe://td/ü%2f?q#f", "spiffe://td/" + strings.Repeat("d", 212),
	}
	// The last second of two-digit years, and the first one of others.
	border := time.Date(2050, 1, 1, 0, 0, 0, 0, time.UTC)
	issued := 0
	for kind, authority := range authorities {
		for _, name := range names {
			for _, at := range []time.Time{today, today.Add(time.Nanosecond).In(time.FixedZone("", 5400)), border.Add(-time.Second), border.Add(skew)} {
				svid, err := authority.Issue(name, time.Second, at)
				if err != nil {
					t.Fatal(err)
				}
				block, rest := pem.Decode(svid.Certificates)
				if block == nil || len(rest) > 0 {
					t.Fatalf("%s: %q is no certificate", kind, svid.Certificates)
				}
				leaf, err := x509.ParseCertificate(block.Bytes)
				if err != nil {
					t.Fatalf("%s, %.40s: %v", kind, name, err)
				}
				if err := leaf.CheckSignatureFrom(authority.certificate); err != nil {
					t.Errorf("%s, %.40s: %v", kind, name, err)
				}
				key, err := parseKey(svid.Key)
				if err != nil || !leaf.PublicKey.(*ecdsa.PublicKey).Equal(key.Public()) {
					t.Errorf("%s, %.40s: the key is not that of the certificate: %v", kind, name, err)
				}
				if own, err := encodeKey(key); err != nil || !bytes.Equal(own, svid.Key) {
					t.Errorf("%s, %.40s: the key has another form than that of crypto/x509: %v", kind, name, err)
				}
				id, err := url.Parse(name)
				if err != nil {
					t.Fatal(err)
				}
				template := svidTemplate(id, at.Add(-skew), svid.End)
				template.SerialNumber = leaf.SerialNumber
				want, err := x509.CreateCertificate(rand.Reader, template, authority.certificate, key.Public(), authority.key)
				if err != nil {
					t.Fatal(err)
				}
				if made, err := x509.ParseCertificate(want); err != nil || !bytes.Equal(made.RawTBSCertificate, leaf.RawTBSCertificate) || made.SignatureAlgorithm != leaf.SignatureAlgorithm {
					t.Errorf("%s, %.40s at %s: it differs from that of crypto/x509 (%v):\n%x\n%x", kind, name, at, err, leaf.RawTBSCertificate, made.RawTBSCertificate)
				}
				issued++
			}
		}
	}
	if issued != 5*7*4 {
		t.Errorf("%d SVIDs are issued", issued)
	}
	if _, err := authorities["P-256"].Issue("spiffe://td/x?ü", time.Hour, today); err == nil || !strings.Contains(err.Error(), "not in ASCII") {
		t.Errorf("a name outside ASCII: %v", err)
	}
}

// BenchmarkIssue compares an SVID with its floor, a new key and one signature, and with crypto/x509.
func BenchmarkIssue(b *testing.B) {
	authority, err := Generate("ca", today)
	if err != nil {
		b.Fatal(err)
	}
	const name = "spiffe://default.mesh.local/ns/web/sa/web"
	b.Run("impl=meshmatch", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := authority.Issue(name, time.Hour, today); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("impl=floor", func(b *testing.B) {
		b.ReportAllocs()
		digest := sha256.Sum256([]byte(name))
		for b.Loop() {
			if _, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
				b.Fatal(err)
			}
			if _, err := authority.key.Sign(rand.Reader, digest[:], crypto.SHA256); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("impl=x509", func(b *testing.B) {
		b.ReportAllocs()
		id, err := url.Parse(name)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
			if err != nil {
				b.Fatal(err)
			}
			template := svidTemplate(id, today, today.Add(time.Hour))
			template.SerialNumber = big.NewInt(1 << 62)
			certificate, err := x509.CreateCertificate(rand.Reader, template, authority.certificate, key.Public(), authority.key)
			if err != nil {
				b.Fatal(err)
			}
			text, err := encodeKey(key)
			if err != nil {
				b.Fatal(err)
			}
			if len(encode(certificateBlock, certificate)) == 0 || len(text) == 0 {
				b.Fatal("nothing is issued")
			}
		}
	})
}
