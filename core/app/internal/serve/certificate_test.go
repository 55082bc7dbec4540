package serve

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"testing"
)

// The server reads the SPIFFE ID of a certificate unchanged. A URI that is invalid by the
// SPIFFE specification is no ID, even if package net/url would convert it to a valid one.
func TestSPIFFEIDOfCertificate(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	const id = "spiffe://td/ns/web"
	for _, test := range []struct {
		name string
		uris []string
		want string
	}{
		{"one", []string{id}, id},
		{"next to others", []string{"https://x/", id, "kuma://version/v1"}, id},
		{"none", []string{"https://x/"}, ""},
		{"no URI", nil, ""},
		{"two", []string{id, "spiffe://td/ns/db"}, ""},
		{"two, one in upper case", []string{id, "SPIFFE://td/ns/db"}, ""},
		{"a comma", []string{"https://x/," + id}, ""},
		{"a scheme in upper case", []string{"SPIFFE://td/ns/web"}, ""},
		{"a trust domain in upper case", []string{"spiffe://TD/ns/web"}, ""},
		{"a query", []string{id + "?a"}, ""},
		{"an empty query", []string{id + "?"}, ""},
		{"a fragment", []string{id + "#a"}, ""},
		{"an empty fragment", []string{id + "#"}, ""},
		{"a dot segment", []string{"spiffe://td/ns/./web"}, ""},
		{"two dots", []string{"spiffe://td/ns/../web"}, ""},
		{"an empty segment", []string{"spiffe://td//ns/web"}, ""},
		{"a slash at the end", []string{id + "/"}, ""},
		{"an escape", []string{"spiffe://td/ns/%77eb"}, ""},
		{"a user", []string{"spiffe://a@td/ns/web"}, ""},
		{"a port", []string{"spiffe://td:1/ns/web"}, ""},
		{"a blank", []string{"spiffe://td/ns/web a"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			names := []asn1.RawValue{{Class: asn1.ClassContextSpecific, Tag: 2, Bytes: []byte("web.mesh")}}
			for _, uri := range test.uris {
				names = append(names, asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 6, Bytes: []byte(uri)})
			}
			value, err := asn1.Marshal(names)
			if err != nil {
				t.Fatal(err)
			}
			template := &x509.Certificate{SerialNumber: big.NewInt(1), ExtraExtensions: []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 17}, Value: value}}}
			der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
			if err != nil {
				t.Fatal(err)
			}
			certificate, err := x509.ParseCertificate(der)
			if err != nil {
				t.Fatal(err)
			}
			if got := spiffeIDOf(certificate); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
