package resource

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/meshmatch/meshmatch/core/diag"
)

// Compare orders identities by mesh, kind, namespace and name.
func (id ID) Compare(o ID) int {
	return cmp.Or(
		cmp.Compare(id.Mesh, o.Mesh),
		cmp.Compare(id.Kind, o.Kind),
		cmp.Compare(id.Namespace, o.Namespace),
		cmp.Compare(id.Name, o.Name),
	)
}

// sortUnique sorts the resources by identity. It reports each resource whose
// identity an earlier one in the input has.
func (s *Set) sortUnique(sink *diag.Sink) {
	sortUnique(s.Meshes, func(m *Mesh) *Meta { return &m.Meta }, sink)
	sortUnique(s.Dataplanes, func(d *Dataplane) *Meta { return &d.Meta }, sink)
	sortUnique(s.Policies, func(p *Policy) *Meta { return &p.Meta }, sink)
	sortUnique(s.Objects, Object.Identity, sink)
	sortUnique(s.Documents, func(d *Document) *Meta { return &d.Meta }, sink)
}

// Sort sorts the lists of a set that was put together from others. Resources with the same
// identity are errors that name both: a [diag.Errors].
func (s *Set) Sort() error {
	var sink diag.Sink
	s.sortUnique(&sink)
	return sink.Err()
}

func sortUnique[T any](list []T, meta func(T) *Meta, sink *diag.Sink) {
	slices.SortStableFunc(list, func(a, b T) int { return meta(a).ID.Compare(meta(b).ID) })
	for i := 1; i < len(list); i++ {
		first, again := meta(list[i-1]), meta(list[i])
		if first.ID == again.ID && first.Name != "" {
			sink.Error(diag.Diagnostic{
				Code: diag.DuplicateResource, Pos: again.Pos, Path: "name",
				What: "duplicate " + again.ID.String(),
				Hint: "the first one is at " + first.Pos.String(),
			})
		}
	}
}

// Qualified returns NAMESPACE/NAME, or the name of a resource without a namespace.
func (id ID) Qualified() string {
	if id.Namespace == "" {
		return id.Name
	}
	return id.Namespace + "/" + id.Name
}

// String returns the identity for messages, such as
// MeshTimeout "web" of namespace "shop" in mesh "default".
func (id ID) String() string {
	text := id.Kind + " " + strconv.Quote(id.Name)
	if id.Namespace != "" {
		text += " of namespace " + strconv.Quote(id.Namespace)
	}
	if id.Kind != MeshKind && id.Mesh != "" {
		text += " in mesh " + strconv.Quote(id.Mesh)
	}
	return text
}
