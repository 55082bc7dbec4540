package sds_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/coretest"
	"github.com/meshmatch/meshmatch/core/internal/identity/ca"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/internal/xds/sds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

const dataplanes = `
{type: Dataplane, name: web, labels: {app: web}, networking: {address: 10.0.0.1}}
---
{type: Dataplane, name: api, labels: {app: api, zone: east}, networking: {address: 10.0.0.2}}
`

func bundled(name, spec, provider string) string {
	return fmt.Sprintf("---\n{type: MeshIdentity, name: %s, spec: {%s, provider: {type: Bundled, bundled: {%s}}}}\n", name, spec, provider)
}

const (
	all       = "selector: {dataplane: {matchLabels: {}}}"
	generated = "autogenerate: {enabled: true}"
)

func dataplane(view *core.View, name string) *resource.Dataplane {
	return view.Dataplane(resource.ID{Kind: resource.DataplaneKind, Mesh: "default", Name: name})
}

// secretsOf returns the two secrets of a dataplane: identity and trust.
func secretsOf(t *testing.T, s *sds.Secrets, d *resource.Dataplane) (identity, trust *wire.Resource) {
	t.Helper()
	issued, err := s.IssuedFor(d)
	if err != nil {
		t.Fatal(err)
	}
	secrets := issued.Secrets
	if len(secrets) != 2 || secrets[0].Name != "identity" || secrets[1].Name != "trust" || secrets[0].Type != wire.SecretType {
		t.Fatalf("secrets %v", secrets)
	}
	return secrets[0], secrets[1]
}

func secret(t *testing.T, r *wire.Resource) *tlsv3.Secret {
	t.Helper()
	m, err := message.Decode(r)
	if err != nil {
		t.Fatal(err)
	}
	return m.(*tlsv3.Secret)
}

// leaf returns the certificate of an identity.
func leaf(t *testing.T, r *wire.Resource) *x509.Certificate {
	t.Helper()
	c := secret(t, r).GetTlsCertificate()
	pair, err := tls.X509KeyPair(c.CertificateChain.GetInlineBytes(), c.PrivateKey.GetInlineBytes())
	if err != nil {
		t.Fatal(err)
	}
	return pair.Leaf
}

func TestSecrets(t *testing.T) {
	view := coretest.View(t, dataplanes+bundled("identity", all, generated))
	issuer := sds.NewIssuer(ca.NewAuthorities(t.TempDir()))
	secrets := issuer.SecretsAt(view, now)
	if len(secrets.Problems()) > 0 {
		t.Error(secrets.Problems())
	}
	identity, trust := secretsOf(t, secrets, dataplane(view, "web"))
	c := leaf(t, identity)
	if got := fmt.Sprint(c.URIs); got != "[spiffe://default.mesh.local/dataplane/web]" {
		t.Errorf("SPIFFE ID %s", got)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(secret(t, trust).GetValidationContext().TrustedCa.GetInlineBytes())
	if _, err := c.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now}); err != nil {
		t.Error(err)
	}
	again, sameTrust := secretsOf(t, secrets, dataplane(view, "web"))
	other, otherTrust := secretsOf(t, secrets, dataplane(view, "api"))
	if again != identity || sameTrust != trust || otherTrust != trust || other.Version == identity.Version {
		t.Error("secrets are not shared as they should be")
	}
}

// TestRenewal advances the time: certificates are renewed after half of their lifetime.
func TestRenewal(t *testing.T) {
	view := coretest.View(t, dataplanes+bundled("identity", all, generated+", certificateParameters: {expiry: 10h}"))
	issuer := sds.NewIssuer(ca.NewAuthorities(t.TempDir()))
	first := issuer.SecretsAt(view, now)
	web, trust := secretsOf(t, first, dataplane(view, "web"))
	if issuer.SecretsAt(view, now.Add(5*time.Hour-time.Second)) != first {
		t.Error("other secrets before half of the lifetime")
	}
	known, err := first.IssuedFor(dataplane(view, "web"))
	if err != nil || !first.Keeps(dataplane(view, "web"), &known) {
		t.Error("secrets are not kept before half of the lifetime", err)
	}
	renewed := issuer.SecretsAt(view, now.Add(5*time.Hour))
	if renewed.Keeps(dataplane(view, "web"), &known) {
		t.Error("secrets that are due for renewal are kept")
	}
	if renewed == first {
		t.Fatal("no renewal after half of the lifetime")
	}
	next, sameTrust := secretsOf(t, renewed, dataplane(view, "web"))
	if next == web || sameTrust != trust {
		t.Error("the certificate is the same, or the trust is not")
	}
	if end := leaf(t, next).NotAfter; !end.Equal(now.Add(15 * time.Hour)) {
		t.Errorf("it ends %v", end)
	}
}

// TestTrustDomains verifies with one trust domain, and with several.
func TestTrustDomains(t *testing.T) {
	authority, err := ca.Generate("other", now)
	if err != nil {
		t.Fatal(err)
	}
	trustOf := func(domain string) string {
		pem := strings.ReplaceAll(strings.TrimSpace(string(authority.Bundle())), "\n", "\\n")
		return fmt.Sprintf("---\n{type: MeshTrust, name: other, spec: {trustDomain: %s, caBundles: [{type: Pem, pem: {value: \"%s\"}}]}}\n", domain, pem)
	}
	for name, c := range map[string]struct {
		text    string
		domains string // of the validator; "": one trusted CA bundle
		others  bool   // the other authority is trusted too
	}{
		"one":                      {bundled("identity", all, generated), "", false},
		"one, from two sources":    {bundled("identity", all, generated) + trustOf("default.mesh.local"), "", true},
		"another of a MeshTrust":   {bundled("identity", all, generated) + trustOf("other.example"), "default.mesh.local other.example", true},
		"those of two identities":  {bundled("a", all, generated) + bundled("b", `selector: {dataplane: {matchLabels: {app: api}}}, spiffeID: {trustDomain: api.example}`, generated), "api.example default.mesh.local", false},
		"by a label":               {bundled("a", all+`, spiffeID: {trustDomain: '{{ label "app" }}.example'}`, generated), "api.example web.example", false},
		"a CA without a MeshTrust": {bundled("identity", all, generated+", meshTrustCreation: Disabled") + trustOf("other.example"), "", true},
	} {
		view := coretest.View(t, dataplanes+c.text)
		_, trust := secretsOf(t, sds.NewIssuer(ca.NewAuthorities(t.TempDir())).SecretsAt(view, now), dataplane(view, "web"))
		validation := secret(t, trust).GetValidationContext()
		var domains []string
		bundle := validation.TrustedCa.GetInlineBytes()
		if custom := validation.CustomValidatorConfig; custom != nil {
			var config tlsv3.SPIFFECertValidatorConfig
			if err := custom.TypedConfig.UnmarshalTo(&config); err != nil {
				t.Fatal(err)
			}
			for _, d := range config.TrustDomains {
				domains = append(domains, d.Name)
				bundle = append(bundle, d.TrustBundle.GetInlineBytes()...)
			}
		}
		if got := strings.Join(domains, " "); got != c.domains {
			t.Errorf("%s: trust domains %q, want %q", name, got, c.domains)
		}
		if got := bytes.Contains(bundle, bytes.TrimSpace(authority.Bundle())); got != c.others {
			t.Errorf("%s: the other CA is trusted: %v", name, got)
		}
	}
}

// TestNone asks for the secrets of dataplanes whose certificates the server does not sign.
func TestNone(t *testing.T) {
	for name, text := range map[string]string{
		"no identity":         "",
		"another provider":    "---\n{type: MeshIdentity, name: a, spec: {" + all + ", provider: {type: Spire}}}",
		"not this dataplane":  bundled("a", "selector: {dataplane: {matchLabels: {app: api}}}", generated),
		"not only":            bundled("b", "selector: {dataplane: {matchLabels: {app: api}}}", generated) + "---\n{type: MeshIdentity, name: a, spec: {" + all + ", provider: {type: Spire}}}",
		"an identity of none": bundled("a", "spiffeID: {path: /x}", generated),
	} {
		view := coretest.View(t, dataplanes+text)
		issued, err := sds.NewIssuer(ca.NewAuthorities("")).SecretsAt(view, now).IssuedFor(dataplane(view, "web"))
		if issued.Secrets != nil || err != nil {
			t.Errorf("%s: got %v, %v", name, issued.Secrets, err)
		}
	}
}

// TestRotation replaces the files of a CA, and removes them.
func TestRotation(t *testing.T) {
	dir := t.TempDir()
	write := func(name string) {
		certificates, key, err := must(ca.Generate(name, now)).PEM()
		if err != nil {
			t.Fatal(err)
		}
		for file, content := range map[string][]byte{"ca.crt": certificates, "ca.key": key} {
			if err := os.WriteFile(filepath.Join(dir, file), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	view := coretest.View(t, dataplanes+bundled("a", all, fmt.Sprintf("ca: {certificate: {type: File, file: {path: %[1]s/ca.crt}}, privateKey: {type: File, file: {path: %[1]s/ca.key}}}", dir)))
	issuer := sds.NewIssuer(ca.NewAuthorities(""))
	missing := issuer.SecretsAt(view, now)
	if _, err := missing.IssuedFor(dataplane(view, "web")); err == nil || len(missing.Problems()) != 1 || !strings.Contains(missing.Problems()[0].Error(), "no such file") {
		t.Errorf("without files: %v, problems %v", err, missing.Problems())
	}
	if issuer.SecretsAt(view, now) != missing {
		t.Error("other secrets, with the same problem")
	}
	write("first")
	first := issuer.SecretsAt(view, now)
	web, trust := secretsOf(t, first, dataplane(view, "web"))
	write("second")
	second := issuer.SecretsAt(view, now)
	next, nextTrust := secretsOf(t, second, dataplane(view, "web"))
	if second == first || next == web || nextTrust == trust {
		t.Error("the new CA is not used")
	}
	if issuer.SecretsAt(view, now) != second {
		t.Error("other secrets without a change")
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
