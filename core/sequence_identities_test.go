package core_test

import (
	"slices"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/spiffe"
	"github.com/meshmatch/meshmatch/core/internal/template"
	"github.com/meshmatch/meshmatch/core/resource"
)

// addIdentities adds new versions of some MeshIdentities and MeshTrusts to a batch.
// Some of them have the previous content.
func (s *sequence) addIdentities(batch *core.Batch) {
	for _, mesh := range []string{"default", "other"} {
		for _, name := range []string{"a", "b"} {
			if s.intn(8) == 1 {
				batch.Upsert.Objects = append(batch.Upsert.Objects, s.identity(mesh, name))
			}
			if s.intn(8) == 1 {
				batch.Upsert.Objects = append(batch.Upsert.Objects, s.trust(mesh, name))
			}
		}
	}
}

func (s *sequence) identity(mesh, name string) *resource.MeshIdentity {
	i := &resource.MeshIdentity{}
	i.ID = resource.ID{Kind: resource.MeshIdentityKind, Mesh: mesh, Name: name}
	i.Spec.Provider = spiffe.IdentityProvider{Type: spiffe.Spire, Spire: &spiffe.SpireProvider{}}
	if s.intn(4) != 0 {
		labels := map[string]string{}
		if s.intn(2) == 1 {
			labels["app"] = "x"
		}
		i.Spec.Selector = &spiffe.IdentitySelector{Dataplane: &spiffe.LabelSelector{MatchLabels: labels}}
	}
	path := template.Template([]string{"/p", "/p/{{ .Name }}"}[s.intn(2)])
	domain := template.Template("td") // the default has the zone, and not every zone can be part of it
	i.Spec.SpiffeID = &spiffe.IDTemplate{TrustDomain: &domain, Path: &path}
	return i
}

func (s *sequence) trust(mesh, name string) *resource.MeshTrust {
	t := &resource.MeshTrust{}
	t.ID = resource.ID{Kind: resource.MeshTrustKind, Mesh: mesh, Name: name}
	t.Spec.TrustDomain = conf.TrustDomain([]string{"td", "example"}[s.intn(2)])
	t.Spec.CABundles = []spiffe.CABundle{{Type: "Pem", Pem: &spiffe.PemBundle{Value: testCA()}}}
	return t
}

// checkIdentities compares the identities and trusts of a view with the expected ones,
// and checks that a commit shares them if they did not change.
func (s *sequence) checkIdentities(commit core.Commit, want *core.View) {
	s.Helper()
	before, after := commit.Before, commit.After
	for _, mesh := range want.Meshes() {
		identities, trusts := after.Identities(mesh), after.Trusts(mesh)
		if !slices.Equal(want.Identities(mesh).All(), identities.All()) || !slices.Equal(want.Trusts(mesh), trusts) {
			s.Fatal("the identities or trusts differ")
		}
		if was := before.Identities(mesh); was != identities && slices.Equal(was.All(), identities.All()) {
			s.Fatal("there is a new version of the same identities")
		}
		if was := before.Trusts(mesh); slices.Equal(was, trusts) && len(was) > 0 && &was[0] != &trusts[0] {
			s.Fatal("there is a new version of the same trusts")
		}
	}
}
