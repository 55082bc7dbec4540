package semantics

import (
	"github.com/meshmatch/meshmatch/core/internal/identity"
	"github.com/meshmatch/meshmatch/core/resource"
)

// IdentityDefaults returns the templates of a MeshIdentity that lacks them.
func (s Semantics) IdentityDefaults() identity.Defaults {
	if s == TargetRef {
		return identity.ByMesh
	}
	return identity.ByZone
}

// PermissionsApply reports whether the MeshTrafficPermissions of a dataplane are applied
// (SPEC 17.1). If not, every client may call it. Mesh is the document of its mesh, or
// nil; identified reports whether a MeshIdentity selects the dataplane.
//
// Kuma requires an identity, because its permissions act on TLS connections. If the Mesh of
// Kuma 2 has a certificate authority, each dataplane has an identity.
func (s Semantics) PermissionsApply(mesh *resource.Mesh, identified bool) bool {
	return !s.isKuma() || identified || s == Kuma && mesh != nil && mesh.Spec.MTLS.Enabled() != nil
}
