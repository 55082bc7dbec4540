package semantics

import "github.com/meshmatch/meshmatch/core/resource"

// ReferenceName returns the name by which other resources refer to a resource: its name,
// or in Kuma its display name (SPEC 17.1).
func (s Semantics) ReferenceName(m *resource.Meta) string { return s.reader().referenceName(m) }

// KRI returns the KRI of a resource in answers, given the KRI of its identity. In Kuma it
// has the display name and the namespace where the resource was made (SPEC 17.1).
func (s Semantics) KRI(kri string, m *resource.Meta) string { return s.reader().kri(kri, m) }

func (targetRef) referenceName(m *resource.Meta) string { return m.Name }

func (targetRef) kri(kri string, _ *resource.Meta) string { return kri }

func (kuma) referenceName(m *resource.Meta) string { return m.DisplayName() }

func (kuma) kri(kri string, m *resource.Meta) string { return m.DisplayKRI(kri) }
