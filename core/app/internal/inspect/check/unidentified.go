package check

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Unidentified returns a warning for each mesh with dataplanes that no MeshIdentity
// selects, at the first such dataplane: over TLS they are served to no client (SPEC
// 12.1).
func Unidentified(view *core.View) []diag.Diagnostic {
	var warnings []diag.Diagnostic
	for _, mesh := range view.Meshes() {
		identities := view.Identities(mesh)
		var without []*resource.Dataplane
		for _, d := range view.Dataplanes(mesh) {
			if id, err := identities.IdentityOf(d); err == nil && id == nil { // an error has a separate warning
				without = append(without, d)
			}
		}
		switch len(without) {
		case 0:
		case 1:
			warnings = append(warnings, diag.Diagnostic{
				Code: diag.NotServedOverTLS, Pos: without[0].Pos, What: without[0].KRI("") + " has no identity, so over TLS it is served to no client",
				Hint: "select it with a MeshIdentity",
			})
		default:
			warnings = append(warnings, diag.Diagnostic{
				Code: diag.NotServedOverTLS, Pos: without[0].Pos,
				What: fmt.Sprintf("%s and %s of the mesh %s have no identity, so over TLS they are served to no client",
					without[0].KRI(""), diag.Count(len(without)-1, "more dataplane"), mesh),
				Hint: "select them with a MeshIdentity",
			})
		}
	}
	return warnings
}
