package source

import (
	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/internal/sorted"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Diff returns the batch that turns the resources of before, which may be nil, into the
// resources of after. Both sets must be sorted by identity, as loads are. A resource
// with the same pointer in both sets is left out; an engine ignores resources with the
// same content. Documents that an engine does not store are left out too.
func Diff(before, after *resource.Set) core.Batch {
	if before == nil {
		before = new(resource.Set)
	}
	b := core.Batch{Upsert: new(resource.Set)}
	b.Upsert.Meshes = diff(&b, before.Meshes, after.Meshes, func(m *resource.Mesh) *resource.Meta { return &m.Meta })
	b.Upsert.Dataplanes = diff(&b, before.Dataplanes, after.Dataplanes, func(d *resource.Dataplane) *resource.Meta { return &d.Meta })
	b.Upsert.Policies = diff(&b, before.Policies, after.Policies, func(p *resource.Policy) *resource.Meta { return &p.Meta })
	b.Upsert.Objects = diff(&b, before.Objects, after.Objects, resource.Object.Identity)
	b.Upsert.Documents = diff(&b, placing(before.Documents), placing(after.Documents), func(d *resource.Document) *resource.Meta { return &d.Meta })
	return b
}

// placing returns the documents that are placements and bindings.
func placing(documents []*resource.Document) []*resource.Document {
	return lists.Filter(documents, func(d *resource.Document) bool { return ocm.IsKind(d.Kind) })
}

// diff returns the resources of after that before does not have with the same pointer,
// and adds the identities that only before has to the deletions.
func diff[T comparable](b *core.Batch, before, after []T, meta func(T) *resource.Meta) []T {
	var none T
	var upserts []T
	byID := func(a, b T) int { return meta(a).ID.Compare(meta(b).ID) }
	for old, next := range sorted.Join(before, after, byID) {
		switch {
		case next == none:
			b.Delete = append(b.Delete, meta(old).ID)
		case next != old:
			upserts = append(upserts, next)
		}
	}
	return upserts
}

func isEmpty(b *core.Batch) bool {
	u := b.Upsert
	return len(u.Meshes)+len(u.Dataplanes)+len(u.Policies)+len(u.Objects)+len(u.Documents)+len(b.Delete) == 0
}
