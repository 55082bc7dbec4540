package identity

import (
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/spiffe"
	"github.com/meshmatch/meshmatch/core/resource"
)

// TrustBundles returns the CA certificates of MeshTrusts, in PEM, by trust domain.
func TrustBundles(trusts []*resource.MeshTrust) map[string]string {
	bundles := map[string]string{}
	for _, trust := range trusts {
		for _, bundle := range trust.Spec.CABundles {
			bundles[string(trust.Spec.TrustDomain)] += strings.TrimSpace(bundle.Pem.Value) + "\n"
		}
	}
	return bundles
}

// BundledTrustDomain returns the trust domain of all CAs that a mesh trusts, if the
// mesh has MeshIdentities of provider Bundled. It returns "" if there may be several.
//
// It determines how certificates are verified (SPEC 11.6). With one trust domain,
// every certificate of its CAs is accepted. A CA could then sign a SPIFFE ID of
// another trust domain, so such an ID opens no inbound. With several trust domains,
// each certificate is verified with the CAs of the trust domain of its SPIFFE ID. A
// certificate without a SPIFFE ID is refused.
func BundledTrustDomain(identities *Identities, trusts []*resource.MeshTrust) string {
	domains := TrustDomains(trusts)
	for _, source := range identities.All() {
		if source.Spec.Provider.Type != spiffe.Bundled {
			continue
		}
		domain, fixed := identities.TrustDomain(source)
		if !fixed {
			return ""
		}
		if source.Spec.Provider.Bundled.IsTrusted() {
			domains = append(domains, domain)
		}
	}
	return onlyDomain(domains)
}

// ClientTrustDomain returns the trust domain of all clients that a dataplane with an
// identity accepts. It returns "" if there may be several, or if there is no
// identity.
func ClientTrustDomain(id *Identity, identities *Identities, trusts []*resource.MeshTrust) string {
	switch {
	case id == nil:
	case id.Source.Spec.Provider.Type == spiffe.Spire: // the agent may have the bundles of several trust domains
	case id.Source.Spec.Provider.Type == spiffe.Bundled:
		return BundledTrustDomain(identities, trusts)
	default:
		return onlyDomain(append(TrustDomains(trusts), id.TrustDomain))
	}
	return ""
}

// TrustDomains returns the trust domains of MeshTrusts.
func TrustDomains(trusts []*resource.MeshTrust) []string {
	var domains []string
	for _, trust := range trusts {
		domains = append(domains, string(trust.Spec.TrustDomain))
	}
	return domains
}

// onlyDomain returns the only trust domain in a list, or "" if there are none or
// several.
func onlyDomain(domains []string) string {
	if len(domains) == 0 || len(slices.Compact(slices.Sorted(slices.Values(domains)))) > 1 {
		return ""
	}
	return domains[0]
}
