package check

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/diag"
)

// absentClients warns of `from` items that select no client of the mesh.
func (m *meshCheck) absentClients() {
	for _, p := range m.policies {
	items:
		for i := range p.From {
			selector := p.From[i].TargetRef.Selector()
			for range m.workloads().with(selector) {
				continue items
			}
			m.warn(diag.Diagnostic{
				Code: diag.AbsentClient, Pos: p.From[i].Pos, Path: fmt.Sprintf("spec.from[%d].targetRef", i),
				What: fmt.Sprintf("no dataplane of mesh %q is a client with the tags %s", m.mesh, selector),
				Hint: "check the tags, or remove the item", Cause: selector.String(),
			})
		}
	}
}
