package snapshot_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"

	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/internal/spiffe"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

const trustWorld = `
{type: Dataplane, name: web, networking: {address: 10.0.0.1, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}]}}
---
type: MeshIdentity
name: files
spec:
  selector: {dataplane: {matchLabels: {}}}
  spiffeID: {trustDomain: shop}
  provider: {type: Extension, extension: {name: files, config: {certificate: /c.pem, privateKey: /k.pem, trustBundle: /ca.pem}}}
---
{type: MeshTrafficPermission, name: p, spec: {rules: [{default: {
  deny: [{spiffeId: {type: Exact, value: spiffe://partner/bad}}],
  allow: [{spiffeId: {type: Prefix, value: spiffe://shop}}, {spiffeId: {type: Exact, value: spiffe://partner/good}}]}}]}}
`

// partner adds a MeshTrust of another trust domain.
func partner(t *testing.T, set *resource.Set) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	trust := &resource.MeshTrust{}
	trust.ID = resource.ID{Kind: "MeshTrust", Mesh: "default", Name: "partner"}
	trust.Spec.TrustDomain = "partner"
	trust.Spec.CABundles = []spiffe.CABundle{{Type: "Pem", Pem: &spiffe.PemBundle{
		Value: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
	}}}
	set.Objects = append(set.Objects, trust)
}

// A bundle vouches for its own trust domain only (SPEC 11.6). If it is the only one, a
// SPIFFE ID of another trust domain opens nothing, and is denied where an entry denies
// it. With several, the validation of certificates holds trust domains apart.
func TestTrustDomains(t *testing.T) {
	for name, c := range map[string]struct {
		trusts  func(*testing.T, *resource.Set)
		opens   bool // to spiffe://partner/good
		trusted string
	}{
		"one":     {func(*testing.T, *resource.Set) {}, false, "ca"},
		"several": {partner, true, "validator"},
	} {
		t.Run(name, func(t *testing.T) {
			set := resourcetest.Decode(t, trustWorld)
			c.trusts(t, set)
			view, err := core.Options{Semantics: core.TargetRef}.NewView(t.Context(), kinds.All(), set)
			if err != nil {
				t.Fatal(err)
			}
			s := snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(view).Snapshot(set.Dataplanes[0], xds.Envoy)
			filter := string(s.Resources(wire.ExtensionType)[0].Body)
			opens := strings.Contains(filter, `spiffe://partner/good`)
			if opens != c.opens || !strings.Contains(filter, `spiffe://partner/bad`) {
				t.Errorf("opens to partner/good: %t, want %t", opens, c.opens)
			}
			if warned := len(s.Warnings()) > 0; warned == c.opens {
				t.Errorf("warnings %v", s.Warnings())
			}
			m, err := message.Decode(s.Resources(wire.SecretType)[1])
			if err != nil {
				t.Fatal(err)
			}
			validation := m.(*tlsv3.Secret).GetValidationContext()
			if got := validation.GetTrustedCa().GetFilename(); (c.trusted == "ca") != (got == "/ca.pem") {
				t.Errorf("trusted CA %q", got)
			}
			if got := validation.GetCustomValidatorConfig(); (c.trusted == "validator") != (got != nil) {
				t.Errorf("validator %v", got)
			}
		})
	}
}
