package sds

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/identity"
	"github.com/meshmatch/meshmatch/core/identity/ca"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
)

// meshSecrets is what the secrets of a mesh are made from.
type meshSecrets struct {
	identities  *identity.Identities
	trusts      []*resource.MeshTrust
	authorities map[resource.ID]*ca.Authority // by MeshIdentity
	bundles     bundles
	trust       *xds.Resource // nil: no certificate is trusted
}

// bundles are the certificates that SPIFFE IDs of a trust domain are verified with, in
// PEM, by trust domain.
type bundles map[string][]byte

// mesh returns what the secrets of a mesh are made from, nil if it has no Bundled
// identity, and before if that is the same.
func (i *Issuer) mesh(view *core.View, mesh string, before *meshSecrets, now time.Time) (*meshSecrets, []error) {
	var problems []error
	m := &meshSecrets{identities: view.Identities(mesh), trusts: view.Trusts(mesh), authorities: map[resource.ID]*ca.Authority{}, bundles: bundles{}}
	dependent := map[resource.ID]bool{} // on the dataplane, for its trust domain
	for _, source := range m.identities.All() {
		if source.Spec.Provider.Type != resource.Bundled {
			continue
		}
		authority, err := i.authorities.Of(source, now)
		if err != nil {
			problems = append(problems, err)
		}
		m.authorities[source.ID] = authority
		if authority == nil || !isTrusted(source) {
			continue
		}
		if domain, fixed := identity.TrustDomain(source); fixed {
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
	m.trust = m.bundles.secret()
	return m, problems
}

// isTrusted reports whether the CA of a MeshIdentity is trusted without a MeshTrust
// that contains it.
func isTrusted(source *resource.MeshIdentity) bool {
	creation := source.Spec.Provider.Bundled.MeshTrustCreation
	return creation == nil || *creation != resource.MeshTrustDisabled
}

// addDependent adds the trust domains that dataplanes have of the given MeshIdentities.
func (m *meshSecrets) addDependent(dataplanes []*resource.Dataplane, sources map[resource.ID]bool) {
	type pair struct {
		domain string
		source resource.ID
	}
	pairs := map[pair]bool{}
	for _, d := range dataplanes {
		if id, err := m.identities.Of(d); err == nil && id != nil && sources[id.Source.ID] {
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

// secret returns the secret that verifies certificates of other dataplanes. With one
// trust domain a certificate without a SPIFFE ID is accepted; with several it is
// refused, as it belongs to none of them (SPEC 11.6).
func (b bundles) secret() *xds.Resource {
	domains := slices.Sorted(maps.Keys(b))
	validation := &tlsv3.CertificateValidationContext{}
	switch len(domains) {
	case 0:
		return nil
	case 1:
		validation.TrustedCa = inline(b[domains[0]])
	default:
		config := &tlsv3.SPIFFECertValidatorConfig{}
		for _, domain := range domains {
			config.TrustDomains = append(config.TrustDomains, &tlsv3.SPIFFECertValidatorConfig_TrustDomain{Name: domain, TrustBundle: inline(b[domain])})
		}
		validation.CustomValidatorConfig = &corev3.TypedExtensionConfig{Name: "envoy.tls.cert_validator.spiffe", TypedConfig: xds.Any(config)}
	}
	return xds.NewResource(xds.SecretType, xds.TrustSecret, &tlsv3.Secret{
		Name: xds.TrustSecret, Type: &tlsv3.Secret_ValidationContext{ValidationContext: validation},
	})
}
