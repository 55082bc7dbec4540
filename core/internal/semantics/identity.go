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
func (s Semantics) PermissionsApply(mesh *resource.Mesh, identified bool) bool {
	return s.reader().permissionsApply(mesh, identified)
}

func (targetRef) permissionsApply(*resource.Mesh, bool) bool { return true }

// permissionsApply requires an identity, because Kuma's permissions act on TLS
// connections. If the Mesh of Kuma 2 has a certificate authority, each dataplane has
// an identity.
func (k kuma) permissionsApply(mesh *resource.Mesh, identified bool) bool {
	return identified || !k.labelsOnly && mesh != nil && mesh.Spec.MTLS.Enabled() != nil
}
