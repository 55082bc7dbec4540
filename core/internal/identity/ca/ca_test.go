package ca_test

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core/internal/identity/ca"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

const web = "spiffe://default.mesh.local/dataplane/web"

func TestIssue(t *testing.T) {
	authority := must(ca.Generate("identity", now))
	svid := must(authority.Issue(web, ca.DefaultLifetime, now))
	leaf := verify(t, authority.Bundle(), svid, now.Add(23*time.Hour))
	if len(leaf.URIs) != 1 || leaf.URIs[0].String() != web || len(leaf.DNSNames)+len(leaf.IPAddresses)+len(leaf.EmailAddresses) != 0 {
		t.Errorf("names %v %v", leaf.URIs, leaf.DNSNames)
	}
	if leaf.IsCA || leaf.KeyUsage != x509.KeyUsageDigitalSignature || leaf.PublicKeyAlgorithm != x509.ECDSA {
		t.Errorf("CA %v, usage %b, %v", leaf.IsCA, leaf.KeyUsage, leaf.PublicKeyAlgorithm)
	}
	if !svid.End.Equal(now.Add(24*time.Hour)) || !leaf.NotAfter.Equal(svid.End) || !svid.Renew.Equal(now.Add(12*time.Hour)) {
		t.Errorf("renewed %v, ends %v", svid.Renew, svid.End)
	}
	again := must(authority.Issue(web, ca.DefaultLifetime, now))
	if string(again.Key) == string(svid.Key) {
		t.Error("the key is the same")
	}
}

func TestLifetimeEndsWithTheCA(t *testing.T) {
	authority := must(ca.Generate("identity", now))
	nearEnd := now.Add(3650*24*time.Hour - 3*time.Hour)
	svid := must(authority.Issue(web, 24*time.Hour, nearEnd))
	if want := now.Add(3650 * 24 * time.Hour); !svid.End.Equal(want) || !svid.Renew.Before(want) {
		t.Errorf("renewed %v, ends %v, want %v", svid.Renew, svid.End, want)
	}
	if _, err := authority.Issue(web, time.Hour, now.AddDate(11, 0, 0)); err == nil || !strings.Contains(err.Error(), "CA expired on") {
		t.Errorf("error %v", err)
	}
}

func TestParse(t *testing.T) {
	certificates, key, err := must(ca.Generate("a", now)).PEM()
	if err != nil {
		t.Fatal(err)
	}
	ecKey, rsaKey, rsaCertificates := olderForms(t, key)
	otherCertificates, otherKey, _ := must(ca.Generate("b", now)).PEM()
	leaf := must(must(ca.Parse(certificates, key)).Issue(web, time.Hour, now))
	for name, c := range map[string]struct {
		certificates, key []byte
		want              string
	}{
		"a CA":                       {certificates, key, ""},
		"with the next CA":           {append(append([]byte{}, certificates...), otherCertificates...), key, ""},
		"with text around":           {append([]byte("made today\n"), certificates...), append([]byte("secret\n"), key...), ""},
		"a key in the form of SEC 1": {certificates, ecKey, ""},
		"a key in PKCS #1":           {rsaCertificates, rsaKey, ""},
		"no certificate":             {key, key, "there is no certificate in PEM"},
		"no key":                     {certificates, certificates, "there is no private key in PEM"},
		"another key":                {certificates, otherKey, "the private key does not belong to the first certificate"},
		"not a CA":                   {leaf.Certificates, leaf.Key, "the first certificate does not belong to a CA"},
		"a damaged key":              {certificates, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("x")}), "the private key cannot be read"},
		"a damaged certificate":      {pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")}), key, "bad certificate"},
	} {
		authority, err := ca.Parse(c.certificates, c.key)
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)):
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		case err == nil && strings.Contains(string(authority.Bundle()), "PRIVATE"):
			t.Errorf("%s: the bundle has a key", name)
		case err == nil:
			verify(t, authority.Bundle(), must(authority.Issue(web, time.Hour, now)), now)
		}
	}
}

// olderForms returns an ECDSA key in the form of SEC 1, and a CA with an RSA key in
// PKCS #1.
func olderForms(t *testing.T, key []byte) (ecKey, rsaKey, rsaCertificates []byte) {
	t.Helper()
	block, _ := pem.Decode(key)
	parsed := must(x509.ParsePKCS8PrivateKey(block.Bytes)).(*ecdsa.PrivateKey)
	ecKey = pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: must(x509.MarshalECPrivateKey(parsed))})
	signer := must(rsa.GenerateKey(rand.Reader, 2048))
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: now, NotAfter: now.AddDate(1, 0, 0), IsCA: true, BasicConstraintsValid: true,
	}
	der := must(x509.CreateCertificate(rand.Reader, template, template, signer.Public(), signer))
	return ecKey, pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(signer)}),
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

const generateText = "{type: MeshIdentity, name: identity, spec: {selector: {dataplane: {}}, provider: {type: Bundled, bundled: {autogenerate: {enabled: true}}}}}"

func meshIdentity(t *testing.T, text string) *resource.MeshIdentity {
	t.Helper()
	loader := resource.Loader{Kinds: kinds.All()}
	return must(loader.Decode(t.Context(), resource.Input{Name: "i.yaml", Data: []byte(text)})).Objects[0].(*resource.MeshIdentity)
}

// TestKept: after a restart the authority is the same, and only its owner can read its
// file.
func TestKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	source := meshIdentity(t, generateText)
	first := must(ca.NewAuthorities(dir).AuthorityFor(source, now))
	restarted := ca.NewAuthorities(dir)
	again := must(restarted.AuthorityFor(source, now.AddDate(1, 0, 0)))
	if string(first.Bundle()) != string(again.Bundle()) {
		t.Error("another CA after a restart")
	}
	if must(restarted.AuthorityFor(source, now)) != again {
		t.Error("another pointer for the same CA")
	}
	verify(t, first.Bundle(), must(again.Issue(web, time.Hour, now)), now)

	entries := must(os.ReadDir(dir))
	if len(entries) != 1 || entries[0].Name() != "ca_default__identity.pem" {
		t.Fatalf("files %v", entries)
	}
	path := filepath.Join(dir, entries[0].Name())
	if info := must(os.Stat(path)); info.Mode() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if info := must(os.Stat(dir)); info.Mode().Perm() != 0o700 {
		t.Errorf("mode of the directory %v", info.Mode())
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if authority, err := ca.NewAuthorities(dir).AuthorityFor(source, now); authority != nil || err == nil || !strings.Contains(err.Error(), "others may have read the key") {
		t.Errorf("a file that others can read: %v", err)
	}
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil || os.Chmod(path, 0o600) != nil {
		t.Fatal(err)
	}
	if authority, err := ca.NewAuthorities(dir).AuthorityFor(source, now); authority != nil || err == nil {
		t.Error("a damaged file is replaced")
	}
}

// TestReplicas starts several servers with the same empty directory at the same time.
func TestReplicas(t *testing.T) {
	dir, source := t.TempDir(), meshIdentity(t, generateText)
	bundles := make([]string, 8)
	var group sync.WaitGroup
	for i := range bundles {
		group.Go(func() { bundles[i] = string(must(ca.NewAuthorities(dir).AuthorityFor(source, now)).Bundle()) })
	}
	group.Wait()
	for i := range bundles {
		if bundles[i] != bundles[0] {
			t.Errorf("server %d has a different CA", i)
		}
	}
	if entries := must(os.ReadDir(dir)); len(entries) != 1 {
		t.Errorf("files %v", entries)
	}
}

func TestNotKept(t *testing.T) {
	authorities, source := ca.NewAuthorities(""), meshIdentity(t, generateText)
	first, err := authorities.AuthorityFor(source, now)
	if first == nil || !errors.Is(err, ca.ErrNotKept) {
		t.Fatalf("error %v", err)
	}
	if again, err := authorities.AuthorityFor(source, now); again != first || err != nil {
		t.Errorf("the second call: another authority %v, error %v", again != first, err)
	}
}

// TestGiven reads a CA from files, which are replaced, damaged and removed.
func TestGiven(t *testing.T) {
	dir := t.TempDir()
	certificates, key, err := must(ca.Generate("a", now)).PEM()
	if err != nil {
		t.Fatal(err)
	}
	nextCertificates, nextKey, _ := must(ca.Generate("b", now)).PEM()
	write := func(name string, content []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("ca.crt", certificates)
	t.Setenv("CA_KEY", string(key))
	source := meshIdentity(t, `{type: MeshIdentity, name: identity, spec: {selector: {dataplane: {}}, provider: {type: Bundled, bundled: {ca: {
		certificate: {type: File, file: {path: `+filepath.Join(dir, "ca.crt")+`}}, privateKey: {type: EnvVar, envVar: {name: CA_KEY}}}}}}}`)
	authorities := ca.NewAuthorities("")
	first := must(authorities.AuthorityFor(source, now))
	if must(authorities.AuthorityFor(source, now)) != first {
		t.Error("another pointer for the same files")
	}
	write("ca.crt", nextCertificates)
	if kept, err := authorities.AuthorityFor(source, now); kept != first || err == nil || !strings.Contains(err.Error(), `MeshIdentity "identity" in mesh "default": ca: the private key does not belong`) {
		t.Errorf("half of a new CA: error %v", err)
	}
	t.Setenv("CA_KEY", string(nextKey))
	next := must(authorities.AuthorityFor(source, now))
	if next == first || string(next.Bundle()) != string(nextCertificates) {
		t.Error("the new CA is not used")
	}
	os.Remove(filepath.Join(dir, "ca.crt"))
	if kept, err := authorities.AuthorityFor(source, now); kept != next || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is gone: error %v", err)
	}
}

// TestFilesThatNeverEnd: a file that is no regular one, or too large, is an error at once. The
// author of the MeshIdentity chose it, and all certificates wait while it is read.
func TestFilesThatNeverEnd(t *testing.T) {
	dir := t.TempDir()
	fifo, large := filepath.Join(dir, "fifo"), filepath.Join(dir, "large")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 1<<40); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{fifo: "it is not a regular file", "/dev/null": "it is not a regular file", dir: "it is not a regular file", large: "it is too large"} {
		source := meshIdentity(t, `{type: MeshIdentity, name: identity, spec: {selector: {dataplane: {}}, provider: {type: Bundled, bundled: {ca: {
			certificate: {type: File, file: {path: `+path+`}}, privateKey: {type: File, file: {path: `+path+`}}}}}}}`)
		if authority, err := ca.NewAuthorities("").AuthorityFor(source, now); authority != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", path, err, want)
		}
	}
}

// TestSources reads a CA from each source that a MeshIdentity may have.
func TestSources(t *testing.T) {
	certificates, key, err := must(ca.Generate("a", now)).PEM()
	if err != nil {
		t.Fatal(err)
	}
	inline := func(text []byte) string {
		return fmt.Sprintf("{type: InsecureInline, insecureInline: {value: %q}}", text)
	}
	const unset, secret = "{type: EnvVar, envVar: {name: MESHMATCH_UNSET}}", "{type: Secret, secretRef: {kind: Secret, name: ca}}"
	for name, test := range map[string]struct{ certificate, key, want string }{
		"inline":             {inline(certificates), inline(key), ""},
		"an unset variable":  {unset, inline(key), `ca.certificate: the environment variable "MESHMATCH_UNSET" is not set`},
		"a secret":           {inline(certificates), secret, "ca.privateKey: secrets of a platform cannot be read here; use a file"},
		"a certificate only": {inline(certificates), inline(certificates), "ca: there is no private key in PEM"},
	} {
		t.Run(name, func(t *testing.T) {
			source := meshIdentity(t, `{type: MeshIdentity, name: identity, spec: {selector: {dataplane: {}}, provider: {type: Bundled, bundled: {ca: {
				certificate: `+test.certificate+`, privateKey: `+test.key+`}}}}}`)
			authority, err := ca.NewAuthorities("").AuthorityFor(source, now)
			switch {
			case test.want == "" && (err != nil || string(authority.Bundle()) != string(certificates)):
				t.Errorf("error %v", err)
			case test.want != "" && (authority != nil || err == nil || err.Error() != source.ID.String()+": "+test.want):
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// TestNoDirectory: no authority is generated if it cannot be saved in the directory.
func TestNoDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	source := meshIdentity(t, generateText)
	for name, dir := range map[string]string{"a file": file, "below a file": filepath.Join(file, "state")} {
		if authority, err := ca.NewAuthorities(dir).AuthorityFor(source, now); authority != nil || err == nil {
			t.Errorf("%s: got an authority, error %v", name, err)
		}
	}
}

// verify returns the certificate of an SVID after it has been verified.
func verify(t *testing.T, bundle []byte, svid *ca.SVID, at time.Time) *x509.Certificate {
	t.Helper()
	pair, err := tls.X509KeyPair(svid.Certificates, svid.Key)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(bundle) {
		t.Fatal("no certificate in the bundle")
	}
	for _, usage := range []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth} {
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: at, KeyUsages: []x509.ExtKeyUsage{usage}}); err != nil {
			t.Error(err)
		}
	}
	if _, err := url.Parse(pair.Leaf.URIs[0].String()); err != nil {
		t.Error(err)
	}
	return pair.Leaf
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
