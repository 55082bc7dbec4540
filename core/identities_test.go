package core_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// identityText returns a MeshIdentity for the dataplanes with the labels.
func identityText(name, labels, path string) string {
	return fmt.Sprintf("\n---\n{type: MeshIdentity, name: %s, spec: {selector: {dataplane: {matchLabels: {%s}}}, spiffeID: {path: %s}, provider: {type: Spire}}}\n", name, labels, path)
}

// trustText returns a MeshTrust.
func trustText(name, trustDomain string) string {
	ca, _ := json.Marshal(testCA())
	return fmt.Sprintf("\n---\n{type: MeshTrust, name: %s, spec: {trustDomain: %s, caBundles: [{type: Pem, pem: {value: %s}}]}}\n", name, trustDomain, ca)
}

// testCA returns a CA certificate, the same at each call.
var testCA = sync.OnceValue(func() string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
})

func identityID(name string) resource.ID {
	return resource.ID{Kind: resource.MeshIdentityKind, Mesh: "default", Name: name}
}

func trustID(name string) resource.ID {
	return resource.ID{Kind: resource.MeshTrustKind, Mesh: "default", Name: name}
}

// spiffeID returns the SPIFFE ID of web-1, or "".
func spiffeID(t *testing.T, v *core.View) string {
	t.Helper()
	id, err := v.Identities("default").IdentityOf(v.Dataplane(dataplaneID("web-1")))
	if err != nil {
		t.Fatal(err)
	}
	if id == nil {
		return ""
	}
	return id.SPIFFEID
}

func trustNames(v *core.View) string {
	var names []string
	for _, trust := range v.Trusts("default") {
		names = append(names, trust.Name)
	}
	return strings.Join(names, " ")
}

// A view has the identities and trusts that batches add, change and remove.
func TestIdentitiesAndTrusts(t *testing.T) {
	e := newEngine(t, dataplaneText("web-1", "web", toBackend)+timeoutText("base", "", everyDataplane, forAll))
	for _, c := range []struct {
		name     string
		upsert   string
		remove   []resource.ID
		spiffeID string
		trusts   string
		count    [2]int // of MeshIdentities and MeshTrusts
	}{
		{"one of each", identityText("b", "", "/b") + trustText("b", "td"), nil, "spiffe://default.mesh.local/b", "b", [2]int{1, 1}},
		{"another of each", identityText("a", "", "/a") + trustText("a", "td"), nil, "spiffe://default.mesh.local/a", "a b", [2]int{2, 2}},
		{"other content", identityText("a", "", "/c") + trustText("a", "td2"), nil, "spiffe://default.mesh.local/c", "a b", [2]int{2, 2}},
		{"one that selects nothing", identityText("a", "no: label", "/c"), nil, "spiffe://default.mesh.local/b", "a b", [2]int{2, 2}},
		{"removed", "", []resource.ID{identityID("b"), trustID("a")}, "", "b", [2]int{1, 1}},
		{"all removed", "", []resource.ID{identityID("a"), trustID("b")}, "", "", [2]int{}},
	} {
		before := e.View()
		commit := apply(t, e, core.Batch{Upsert: resourcetest.Decode(t, c.upsert), Delete: c.remove})
		if got := spiffeID(t, commit.After); got != c.spiffeID {
			t.Errorf("%s: SPIFFE ID %q, want %q", c.name, got, c.spiffeID)
		}
		if got := trustNames(commit.After); got != c.trusts {
			t.Errorf("%s: trusts %q, want %q", c.name, got, c.trusts)
		}
		counts := commit.After.Count()
		if got := [2]int{counts[resource.MeshIdentityKind], counts[resource.MeshTrustKind]}; got != c.count {
			t.Errorf("%s: counts %v, want %v", c.name, got, c.count)
		}
		if len(commit.Changes()) != 0 {
			t.Errorf("%s: the configuration of dataplanes changed: %v", c.name, changesText(commit))
		}
		d := before.Dataplane(dataplaneID("web-1"))
		if &before.Configs(d, core.Enforced)[0] != &commit.After.Configs(d, core.Enforced)[0] {
			t.Errorf("%s: a dataplane was evaluated again", c.name)
		}
	}
	if view := e.View(); view.Identities("unknown") != nil || view.Trusts("unknown") != nil || view.Mesh("unknown") != nil {
		t.Error("an unknown mesh has resources")
	}
}

// Views share identities and trusts until they change. An upsert that repeats
// them publishes nothing.
func TestIdentitiesAndTrustsAreShared(t *testing.T) {
	world := identityText("a", "", "/a") + identityText("b", "", "/b") + trustText("a", "td")
	e := newEngine(t, world)
	before := e.View()
	if commit := apply(t, e, core.Batch{Upsert: resourcetest.Decode(t, world)}); commit.After != before {
		t.Error("a repeated upsert published a view")
	}
	for name, c := range map[string]struct {
		upsert             string
		identities, trusts bool // whether they are shared
	}{
		"dataplane": {dataplaneText("web-1", "web", toBackend), true, true},
		"policy":    {timeoutText("base", "", everyDataplane, forAll), true, true},
		"mesh":      {"---\n{type: Mesh, name: default}\n", true, true},
		"identity":  {identityText("b", "", "/c"), false, true},
		"trust":     {trustText("a", "td2"), true, false},
		"position":  {"---\n---" + world, false, false},
	} {
		commit := apply(t, newEngine(t, world), core.Batch{Upsert: resourcetest.Decode(t, c.upsert)})
		if got := commit.Before.Identities("default") == commit.After.Identities("default"); got != c.identities {
			t.Errorf("%s: identities are shared: %v", name, got)
		}
		if got := &commit.Before.Trusts("default")[0] == &commit.After.Trusts("default")[0]; got != c.trusts {
			t.Errorf("%s: trusts are shared: %v", name, got)
		}
	}
	if spiffe := before.Identities("default").All()[0].Spec.SpiffeID; *spiffe.Path != "/a" {
		t.Error("a published view changed")
	}
}

// A mesh may consist of identities or trusts alone.
func TestMeshesOfIdentitiesAndTrusts(t *testing.T) {
	for _, c := range []struct {
		text string
		id   resource.ID
	}{{identityText("a", "", "/a"), identityID("a")}, {trustText("a", "td"), trustID("a")}} {
		e := newEngine(t, c.text)
		if diff := cmp.Diff([]string{"default"}, e.View().Meshes()); diff != "" {
			t.Errorf("%s: %s", c.id, diff)
		}
		commit := apply(t, e, core.Batch{Delete: []resource.ID{c.id}})
		if meshes := commit.After.Meshes(); len(meshes) != 0 {
			t.Errorf("%s: %v are left of nothing", c.id, meshes)
		}
		if len(commit.Changes()) != 0 {
			t.Errorf("%s: dataplanes changed", c.id)
		}
	}
}

// Mesh returns the resource.
func TestMesh(t *testing.T) {
	view, err := core.Options{Semantics: core.TargetRef}.NewView(t.Context(), kinds.All(), resourcetest.Decode(t, "{type: Mesh, name: m, labels: {a: b}}\n---\n{type: MeshTimeout, name: a, mesh: n, spec: {rules: []}}"))
	if err != nil {
		t.Fatal(err)
	}
	if m := view.Mesh("m"); m == nil || m.Labels.Value("a") != "b" || view.Mesh("n") != nil {
		t.Errorf("got %v and %v", m, view.Mesh("n"))
	}
}
