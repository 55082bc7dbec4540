package check

import (
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

// unreadFields warns of what the version of Kuma by which the resources are read ignores or
// refuses (SPEC 17.5): fields of confs, fields of the Mesh, and destinations.
func (m *meshCheck) unreadFields() {
	s := m.view.Semantics()
	for _, p := range m.policies {
		for _, field := range p.Unread {
			m.warn(diag.Diagnostic{
				Code: diag.FieldNotUsed, Pos: fieldPosition(p, field), Path: fieldPath(p, field),
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

// fieldPosition returns the position of the item that has a field.
func fieldPosition(p *resource.Policy, field resource.UnreadField) diag.Position {
	items := map[string][]resource.Item{"to": p.To, "from": p.From}[field.Array]
	switch {
	case field.Array == "default":
		return p.DefaultPos
	case field.Index < len(items):
		return items[field.Index].Pos
	case field.Array == "rules" && field.Index < len(p.Rules):
		return p.Rules[field.Index].Pos
	}
	return p.Pos
}

// fieldPath returns the path of a field of a conf in the document of its policy.
func fieldPath(p *resource.Policy, field resource.UnreadField) string {
	path := "spec." + field.Array
	if field.Array != "default" {
		path += fmt.Sprintf("[%d]", field.Index)
		if field.Array != "to" || p.Type.To == nil || !p.Type.To.Inline {
			path += ".default"
		}
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(field.Pointer, "/"), "/") {
		if strings.Trim(part, "0123456789") == "" {
			path += "[" + part + "]"
		} else {
			path += "." + part
		}
	}
	return path
}
