package spiffe_test

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/spiffe"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// findings decodes a spec in one way to read documents. It returns the code and the path of
// each error and warning.
func findings(spec any, text string, as diag.Reading) string {
	var sink diag.Sink
	for doc := range strict.Documents("f", strict.Chunks([]byte(text), 1)[0], strict.DefaultLimits, &sink) {
		strict.Decode(doc.Root(), spec)
	}
	sink.Choose(as)
	var all diag.Errors
	errors.As(sink.Err(), &all)
	var found []string
	for _, d := range append(all, sink.Warnings()...) {
		found = append(found, d.Code.String()+" "+d.Path)
	}
	return strings.Join(found, "; ")
}

// What a MeshIdentity may have (SPEC 11.6). Each row has the codes and paths of the findings.
func TestIdentitySpec(t *testing.T) {
	const spire = ", provider: {type: Spire}"
	for _, c := range []struct{ rule, spec, want string }{
		{"11.6: the example",
			"{selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: '{{ .Mesh }}.mesh.local'}, provider: {type: Bundled, bundled: {autogenerate: {enabled: true}}}}", ""},
		{"11.6: Kuma's other spelling", "{spiffeId: {path: /a}" + spire + "}", ""},
		{"11.6: no other variable", "{spiffeID: {path: '/{{ .Pod }}'}" + spire + "}", "MM0111 spiffeID.path"},
		{"1.2: an empty trust domain is not the default", "{spiffeID: {trustDomain: ''}" + spire + "}", "MM0108 spiffeID.trustDomain"},
		{"1.2: a provider is required", "{selector: {}}", "MM0103 provider"},
		{"11.6: three providers", "{provider: {type: Vault}}", "MM0109 provider.type"},
		{"11.6: the part of another provider", "{provider: {type: Spire, extension: {name: files, config: {certificate: /c, privateKey: /k, trustBundle: /t}}}}", "MM0106 provider.extension"},
		{"11.6: Bundled needs a CA", "{provider: {type: Bundled}}", "MM0103 provider.bundled"},
		{"11.6: Bundled with neither CA", "{provider: {type: Bundled, bundled: {}}}", "MM0103 provider.bundled.ca"},
		{"11.6: autogenerate that is off is no CA", "{provider: {type: Bundled, bundled: {autogenerate: {enabled: false}}}}", "MM0103 provider.bundled.ca"},
		{"11.6: Bundled with both CAs",
			"{provider: {type: Bundled, bundled: {autogenerate: {enabled: true}, ca: {certificate: {type: File, file: {path: /c}}, privateKey: {type: File, file: {path: /k}}}}}}", "MM0107 provider.bundled.ca"},
		{"11.6: Extension has a name", "{provider: {type: Extension}}", "MM0103 provider.extension"},
		{"11.6: files is the only extension", "{provider: {type: Extension, extension: {name: vault, config: {certificate: /c, privateKey: /k, trustBundle: /t}}}}", "MM0109 provider.extension.name"},
		{"11.6: files have paths", "{provider: {type: Extension, extension: {name: files}}}", "MM0103 provider.extension.config"},
		{"11.6: a path of files is a template", "{provider: {type: Extension, extension: {name: files, config: {certificate: '/{{ .Name }}', privateKey: '/{{ .Pod }}', trustBundle: ''}}}}",
			"MM0111 provider.extension.config.privateKey; MM0108 provider.extension.config.trustBundle"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if got := findings(&spiffe.IdentitySpec{}, c.spec, diag.AsKuma2); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// A path without a slash at its begin is an error, but Kuma appends it to the trust domain
// (SPEC 1.4).
func TestPathWithoutSlash(t *testing.T) {
	for as, want := range map[diag.Reading]string{
		diag.AsTargetRef: "MM0116 spiffeID.path",
		diag.AsKuma2:     "MM1034 spiffeID.path",
		diag.AsKuma3:     "MM1034 spiffeID.path",
	} {
		if got := findings(&spiffe.IdentitySpec{}, "{spiffeID: {path: workload}, provider: {type: Spire}}", as); got != want {
			t.Errorf("reading %d: got %q, want %q", as, got, want)
		}
	}
}

// The certificate and the key of a CA have the part of their type, and no other (SPEC 11.6).
func TestDataSource(t *testing.T) {
	for _, c := range []struct{ rule, source, want string }{
		{"a file", "{type: File, file: {path: /c}}", ""},
		{"a variable of the environment", "{type: EnvVar, envVar: {name: CA}}", ""},
		{"a secret by Kuma's type", "{type: Secret, secretRef: {kind: Secret, name: ca}}", ""},
		{"a secret by the name of the part", "{type: SecretRef, secretRef: {kind: Secret, name: ca}}", ""},
		{"a text", "{type: InsecureInline, insecureInline: {value: x}}", ""},
		{"no part", "{type: File}", "MM0103 file"},
		{"the part of another type", "{type: File, file: {path: /c}, insecureInline: {value: x}}", "MM0106 insecureInline"},
		{"only the part of another type", "{type: EnvVar, secretRef: {kind: Secret, name: ca}}", "MM0103 envVar; MM0106 secretRef"},
		{"an unknown type alone is wrong", "{type: Vault, file: {path: /c}}", "MM0109 type"},
		{"an absent type alone is wrong", "{file: {path: /c}}", "MM0103 type"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if got := findings(&spiffe.DataSource{}, c.source, diag.AsKuma2); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// A MeshTrust has CA certificates, and nothing else, for one trust domain (SPEC 11.6).
func TestTrustSpec(t *testing.T) {
	certificate := certificatePEM(t)
	key := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte{1}}))
	broken := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte{1}}))
	bundle := func(text string) string { return "{type: Pem, pem: {value: " + strconv.Quote(text) + "}}" }
	const value = "caBundles[0].pem.value"
	for _, c := range []struct{ rule, spec, want string }{
		{"a certificate", "{trustDomain: td, caBundles: [" + bundle(certificate) + "]}", ""},
		{"several certificates in a bundle", "{trustDomain: td, caBundles: [" + bundle(certificate+"\n"+certificate+"\n ") + "]}", ""},
		{"the origin that Kuma writes", "{origin: {kri: kri_mid_default___ids_}, trustDomain: td, caBundles: [" + bundle(certificate) + "]}", ""},
		{"no bundle", "{trustDomain: td, caBundles: []}", "MM0108 caBundles"},
		{"absent bundles", "{trustDomain: td}", "MM0103 caBundles"},
		{"a bundle without its part", "{trustDomain: td, caBundles: [{type: Pem}]}", "MM0103 caBundles[0].pem"},
		{"a trust domain with a path", "{trustDomain: td/a, caBundles: [" + bundle(certificate) + "]}", "MM0113 trustDomain"},
		{"a private key", "{trustDomain: td, caBundles: [" + bundle(certificate+key) + "]}", "MM0115 " + value},
		{"no PEM", "{trustDomain: td, caBundles: [" + bundle("") + "]}", "MM0115 " + value},
		{"a text after a certificate", "{trustDomain: td, caBundles: [" + bundle(certificate+"x") + "]}", "MM0115 " + value},
		{"no certificate in PEM", "{trustDomain: td, caBundles: [" + bundle(broken) + "]}", "MM0115 " + value},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if got := findings(&spiffe.TrustSpec{}, c.spec, diag.AsKuma2); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// A CA that no MeshTrust publishes is trusted all the same, unless meshTrustCreation is
// Disabled.
func TestIsTrusted(t *testing.T) {
	for creation, want := range map[string]bool{"": true, "meshTrustCreation: Enabled, ": true, "meshTrustCreation: Disabled, ": false} {
		var provider spiffe.BundledProvider
		if found := findings(&provider, "{"+creation+"autogenerate: {enabled: true}}", diag.AsKuma2); found != "" {
			t.Fatal(found)
		}
		if got := provider.IsTrusted(); got != want {
			t.Errorf("%q: got %t, want %t", creation, got, want)
		}
	}
}

// certificatePEM returns the same certificate each time.
func certificatePEM(t *testing.T) string {
	t.Helper()
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Unix(1, 0), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(nil, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}
