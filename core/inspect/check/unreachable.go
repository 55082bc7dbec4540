package check

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/destination"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/inspect/internal/words"
	"github.com/meshmatch/meshmatch/core/resource"
)

// unreachable warns of external services to which no proxy connects (SPEC 17.4).
func (m *meshCheck) unreachable(destinations *destination.Set) []diag.Diagnostic {
	var warnings []diag.Diagnostic
	mesh := m.view.Mesh(m.mesh)
	field := mesh.NoExternalServices()
	for _, o := range destinations.All() {
		s, is := o.(*resource.MeshExternalService)
		if !is {
			continue
		}
		if field != "" {
			return append(warnings, diag.Diagnostic{
				Code: diag.NoEndpoints, Pos: mesh.Pos, Path: field,
				What: fmt.Sprintf("no proxy connects to a MeshExternalService of the mesh, such as %s: it is answered with 503", words.Qualified(s.Identity())),
				Hint: "remove the field: no zone egress is configured here",
			})
		}
		if path, why := destination.Unreachable(s); path != "" {
			warnings = append(warnings, diag.Diagnostic{
				Code: diag.NoEndpoints, Pos: s.Pos, Path: path,
				What: fmt.Sprintf("%s, so %s has no endpoints and is answered with 503", why, words.Qualified(s.Identity())),
			})
		}
	}
	return warnings
}
