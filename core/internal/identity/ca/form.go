package ca

import (
	"bytes"
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
)

// A form has what all SVIDs of an authority have in common, in DER. It is taken from an SVID
// that crypto/x509 made. Issuing by crypto/x509 alone takes three times as long as a key and a
// signature: it encodes everything anew, and verifies what it has signed.
type form struct {
	signer crypto.Signer
	hash   crypto.Hash // what is signed: the hash; 0: the text
	// Elements of a certificate (RFC 5280, section 4.1).
	version, algorithm, issuer, subject []byte
	extensions                          []byte // without the last one, which is the name
	// The texts before the point of a public key, and before both numbers of a private key.
	public, private, between []byte
}

// Tags of DER (X.690, section 8).
const (
	tagInteger         = 0x02
	tagBitString       = 0x03
	tagOctetString     = 0x04
	tagUTCTime         = 0x17
	tagGeneralizedTime = 0x18
	tagSequence        = 0x30
	tagURI             = 0x86 // in a list of names
	tagExtensions      = 0xa3 // in a certificate
)

// nameExtension begins the extension with the name, which is critical, because the subject is empty.
var nameExtension = []byte{0x06, 0x03, 0x55, 0x1d, 0x11, 0x01, 0x01, 0xff}

// hashes has the algorithms with which crypto/x509 signs if it is told none.
var hashes = map[x509.SignatureAlgorithm]crypto.Hash{
	x509.ECDSAWithSHA256: crypto.SHA256, x509.ECDSAWithSHA384: crypto.SHA384, x509.ECDSAWithSHA512: crypto.SHA512,
	x509.SHA256WithRSA: crypto.SHA256, x509.PureEd25519: 0,
}

// newForm makes an SVID by crypto/x509 and takes it apart.
func newForm(a *Authority) (*form, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := svidTemplate(&url.URL{Scheme: "spiffe", Host: "form"}, a.certificate.NotBefore, a.certificate.NotAfter)
	template.SerialNumber = big.NewInt(1)
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return nil, err
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	var parts struct {
		Version, Serial, Algorithm, Issuer, Validity, Subject, Key asn1.RawValue
		Extensions                                                 []asn1.RawValue `asn1:"explicit,tag:3"`
	}
	if rest, err := asn1.Unmarshal(made.RawTBSCertificate, &parts); err != nil || len(rest) > 0 {
		return nil, fmt.Errorf("the form of an SVID cannot be read: %w", err)
	}
	f := &form{
		signer: a.key, version: parts.Version.FullBytes, algorithm: parts.Algorithm.FullBytes,
		issuer: parts.Issuer.FullBytes, subject: parts.Subject.FullBytes,
	}
	var known bool
	if f.hash, known = hashes[made.SignatureAlgorithm]; !known {
		return nil, fmt.Errorf("the CA signs by %s, which is not supported", made.SignatureAlgorithm)
	}
	last := len(parts.Extensions) - 1
	for _, e := range parts.Extensions[:last] {
		f.extensions = append(f.extensions, e.FullBytes...)
	}
	if !bytes.HasPrefix(parts.Extensions[last].Bytes, nameExtension) {
		return nil, errors.New("the name is not the last extension of an SVID")
	}
	return f, f.takeKeys(key, parts.Key.FullBytes)
}

// takeKeys takes the texts of a public and a private key apart.
func (f *form) takeKeys(key *ecdsa.PrivateKey, public []byte) error {
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	number, err := key.Bytes()
	if err != nil {
		return err
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		return err
	}
	var found [3]bool
	var rest, end []byte
	f.public, end, found[0] = bytes.Cut(public, point)
	f.private, rest, found[1] = bytes.Cut(private, number)
	f.between, rest, found[2] = bytes.Cut(rest, point)
	if found != [3]bool{true, true, true} || len(end)+len(rest) > 0 {
		return errors.New("the form of a key cannot be read")
	}
	return nil
}

// svidTemplate returns the template of an SVID for crypto/x509.
func svidTemplate(id *url.URL, from, end time.Time) *x509.Certificate {
	return &x509.Certificate{
		URIs: []*url.URL{id}, NotBefore: from, NotAfter: end, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
}

// issue returns a certificate with a name, and its new key, both in DER. Its random serial
// number has 126 bits.
func (f *form) issue(id string, from, end time.Time) (certificate, key []byte, err error) {
	if strings.ContainsFunc(id, func(r rune) bool { return r > unicode.MaxASCII }) {
		return nil, nil, fmt.Errorf("%q cannot be in a certificate: it is not in ASCII", id)
	}
	fresh, err := ecdh.P256().GenerateKey(rand.Reader) // a key of package ecdsa would verify its point again
	if err != nil {
		return nil, nil, err
	}
	number, point := fresh.Bytes(), fresh.PublicKey().Bytes()
	serial := make([]byte, 16)
	_, _ = rand.Read(serial)          // it never returns an error
	serial[0] = serial[0]&0x3f | 0x40 // positive, and always as long
	name := element(tagSequence, nameExtension, element(tagOctetString, element(tagSequence, element(tagURI, []byte(id)))))
	signed := element(tagSequence,
		f.version, element(tagInteger, serial), f.algorithm, f.issuer,
		element(tagSequence, timeElement(from), timeElement(end)), f.subject,
		f.public, point, element(tagExtensions, element(tagSequence, f.extensions, name)))
	text := signed
	if f.hash != 0 {
		h := f.hash.New()
		_, _ = h.Write(signed)
		text = h.Sum(nil)
	}
	signature, err := f.signer.Sign(rand.Reader, text, f.hash)
	if err != nil {
		return nil, nil, err
	}
	return element(tagSequence, signed, f.algorithm, element(tagBitString, []byte{0}, signature)),
		slices.Concat(f.private, number, f.between, point), nil
}

// timeElement returns a time as RFC 5280, section 4.1.2.5, requires it.
func timeElement(t time.Time) []byte {
	if t = t.UTC(); t.Year() < 2050 {
		return element(tagUTCTime, t.AppendFormat(nil, "060102150405Z"))
	}
	return element(tagGeneralizedTime, t.AppendFormat(nil, "20060102150405Z"))
}

// element returns an element of DER: its tag, the length of its parts, and them.
func element(tag byte, parts ...[]byte) []byte {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	e := append(make([]byte, 0, 5+n), tag)
	switch {
	case n < 1<<7:
		e = append(e, byte(n))
	case n < 1<<8:
		e = append(e, 0x81, byte(n))
	case n < 1<<16:
		e = append(e, 0x82, byte(n>>8), byte(n))
	default:
		e = append(e, 0x83, byte(n>>16), byte(n>>8), byte(n))
	}
	for _, p := range parts {
		e = append(e, p...)
	}
	return e
}
