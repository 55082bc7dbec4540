package resource

import "github.com/meshmatch/meshmatch/core/internal/spiffe"

// MeshIdentity assigns SPIFFE IDs to the dataplanes that it selects, and
// describes the source of their certificates (SPEC 11.6). Package identity
// evaluates it.
type MeshIdentity struct {
	ObjectOf[spiffe.IdentitySpec]
}

// MeshTrust contains the certificates of the CAs that are trusted for the
// SPIFFE IDs of one trust domain (SPEC 11.6).
type MeshTrust struct{ ObjectOf[spiffe.TrustSpec] }
