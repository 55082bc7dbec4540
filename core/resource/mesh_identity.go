package resource

import "github.com/meshmatch/meshmatch/core/conf/spiffe"

// MeshIdentity gives SPIFFE IDs to the dataplanes that it selects, and
// describes where their certificates come from (SPEC 11.6). Package identity
// evaluates it.
type MeshIdentity struct {
	Meta
	Spec spiffe.IdentitySpec
}

// MeshTrust is the certificates of CAs that vouch for the SPIFFE IDs of one
// trust domain (SPEC 11.6).
type MeshTrust struct {
	Meta
	Spec spiffe.TrustSpec
}
