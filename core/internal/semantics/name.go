package semantics

import "github.com/meshmatch/meshmatch/core/resource"

// ReferenceName returns the name by which other resources refer to a resource: its name,
// or in Kuma its display name (SPEC 17.1).
func (s Semantics) ReferenceName(m *resource.Meta) string {
	if s.isKuma() {
		return m.DisplayName()
	}
	return m.Name
}

// KRI returns the KRI of a resource in answers, given the KRI of its identity. In Kuma it
// has the display name and the namespace where the resource was made (SPEC 17.1).
func (s Semantics) KRI(kri string, m *resource.Meta) string {
	if s.isKuma() {
		return m.DisplayKRI(kri)
	}
	return kri
}
