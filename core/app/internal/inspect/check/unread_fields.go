package check

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/items"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// unreadFields warns of what the version of Kuma by which the resources are read ignores or
// refuses (SPEC 17.5): fields of confs, fields of the Mesh, and destinations.
func (m *meshCheck) unreadFields() {
	s := m.view.Semantics()
	for _, p := range m.policies {
		for _, field := range p.Unread {
			at := items.ItemPlace{Origin: results.Origin{Policy: p, Index: field.Index}, Array: field.Array}
			pos, path := at.Field(field.Pointer)
			m.warn(diag.Diagnostic{
				Code: diag.FieldNotUsed, Pos: pos, Path: path,
				What: fmt.Sprintf("%s does not read the field", s), Hint: "the findings of an upgrade to Kuma 3 name what replaces it", Cause: p.Kind + field.Pointer,
			})
		}
	}
	mesh := m.view.Mesh(m.mesh)
	if mesh.Passthrough() != s.Passthrough(mesh) {
		m.warn(diag.Diagnostic{
			Code: diag.FieldNotUsed, Pos: mesh.Pos, Path: "networking.outbound.passthrough",
			What: fmt.Sprintf("%s does not read the field: workloads may connect to addresses that are not outbounds", s), Hint: "write a MeshPassthrough with passthroughMode None",
		})
	}
	for _, o := range m.view.Objects(m.mesh) {
		d, is := o.(resource.Destination)
		if !is {
			continue
		}
		if path := s.Refused(d); path != "" {
			m.warn(diag.Diagnostic{
				Code: diag.NoEndpoints, Pos: o.Identity().Pos, Path: path,
				What: fmt.Sprintf("%s refuses this form of a certificate, so there is no %s %s", s, o.Identity().Kind, o.Identity().Qualified()),
				Hint: "write {type: Secret, secretRef: {kind: Secret, name: NAME}}",
			})
		}
	}
}
