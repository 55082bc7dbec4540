package sds

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/identity"
	"github.com/meshmatch/meshmatch/core/internal/identity/ca"
	"github.com/meshmatch/meshmatch/core/internal/spiffe"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// meshSecrets are the inputs of the secrets of a mesh, and its trust.
type meshSecrets struct {
	identities  *identity.Identities
	trusts      []*resource.MeshTrust
	authorities map[resource.ID]*ca.Authority // by MeshIdentity
	bundles     bundles
	trust       *wire.Resource // nil: no certificate is trusted
}

// bundles are CA certificates in PEM, by trust domain. They verify the SPIFFE IDs of
// their trust domain.
type bundles map[string][]byte

// mesh returns the inputs of the secrets of a mesh, and its trust. It returns nil if the
// mesh has no Bundled identity, and before if the inputs are equal.
func (i *Issuer) mesh(view *core.View, mesh string, before *meshSecrets, now time.Time) (*meshSecrets, []error) {
	var problems []error
	m := &meshSecrets{identities: view.Identities(mesh), trusts: view.Trusts(mesh), authorities: map[resource.ID]*ca.Authority{}, bundles: bundles{}}
	dependent := map[resource.ID]bool{} // the trust domain depends on the dataplane
	for _, source := range m.identities.All() {
		if source.Spec.Provider.Type != spiffe.Bundled {
			continue
		}
		authority, err := i.authorities.AuthorityFor(source, now)
		if err != nil {
			problems = append(problems, err)
		}
		m.authorities[source.ID] = authority
		if authority == nil || !source.Spec.Provider.Bundled.IsTrusted() {
			continue
		}
		if domain, fixed := m.identities.TrustDomain(source); fixed {
			m.bundles.add(domain, authority.Bundle())
		} else {
			dependent[source.ID] = true
		}
	}
	if len(m.authorities) == 0 {
		return nil, nil
	}
	if len(dependent) > 0 {
		m.addDependent(view.Dataplanes(mesh), dependent)
	}
	for _, trust := range m.trusts {
		for _, bundle := range trust.Spec.CABundles {
			m.bundles.add(string(trust.Spec.TrustDomain), []byte(bundle.Pem.Value))
		}
	}
	if before != nil && before.identities == m.identities && maps.Equal(before.authorities, m.authorities) && before.bundles.equal(m.bundles) {
		return before, problems
	}
	m.trust = m.bundles.secret(identity.BundledTrustDomain(view.Identities(mesh), view.Trusts(mesh)))
	return m, problems
}

// addDependent adds the trust domains that the given MeshIdentities give to dataplanes.
func (m *meshSecrets) addDependent(dataplanes []*resource.Dataplane, sources map[resource.ID]bool) {
	type pair struct {
		domain string
		source resource.ID
	}
	pairs := map[pair]bool{}
	for _, d := range dataplanes {
		if id, err := m.identities.IdentityOf(d); err == nil && id != nil && sources[id.Source.ID] {
			pairs[pair{id.TrustDomain, id.Source.ID}] = true
		}
	}
	byDomain := func(a, b pair) int { return cmp.Or(cmp.Compare(a.domain, b.domain), a.source.Compare(b.source)) }
	for _, p := range slices.SortedFunc(maps.Keys(pairs), byDomain) {
		m.bundles.add(p.domain, m.authorities[p.source].Bundle())
	}
}

func (b bundles) add(domain string, certificates []byte) {
	if !bytes.Contains(b[domain], bytes.TrimSpace(certificates)) {
		b[domain] = slices.Concat(b[domain], bytes.TrimSpace(certificates), []byte("\n"))
	}
}

func (b bundles) equal(o bundles) bool { return maps.EqualFunc(b, o, bytes.Equal) }

// secret returns the secret that verifies certificates of other dataplanes, or nil if no
// certificate is trusted. The argument only is [identity.BundledTrustDomain].
func (b bundles) secret(only string) *wire.Resource {
	if len(b) == 0 {
		return nil
	}
	sources := map[string]*corev3.DataSource{}
	for domain, certificates := range b {
		sources[domain] = inline(certificates)
	}
	return message.NewResource(wire.SecretType, message.TrustSecret, message.NewTrustSecret(sources, only))
}
