package semantics

import "github.com/meshmatch/meshmatch/core/resource"

// Passthrough reports whether workloads of a mesh may connect to addresses that are not
// outbounds, if no MeshPassthrough decides (SPEC 11.5). Mesh is the document of the mesh,
// or nil. Kuma 3 does not read the field of the document.
func (s Semantics) Passthrough(mesh *resource.Mesh) bool { return s == Kuma3 || mesh.Passthrough() }
