package core

import (
	"cmp"
	"iter"
	"slices"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/mesh"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Batch is a set of changes that are applied together or not at all. The order
// of its elements has no meaning.
type Batch struct {
	// Upsert contains the resources to add. Each replaces the resource with the same
	// identity, if there is one. Nil adds none. The caller must not change them
	// afterwards.
	Upsert *resource.Set
	// Delete contains the identities of the resources to remove. It is an error if one
	// does not exist.
	Delete []resource.ID
}

// upserts returns the resources of Upsert.
func (b *Batch) upserts() *resource.Set {
	if b.Upsert == nil {
		return new(resource.Set)
	}
	return b.Upsert
}

// globals returns the edits of objects without a mesh, sorted by identity.
func (b *Batch) globals() []mesh.Edit[resource.Object] {
	var edits []mesh.Edit[resource.Object]
	for _, o := range b.upserts().Objects {
		if resource.IsGlobal(o.Identity().Kind) {
			edits = append(edits, mesh.Upsert(o))
		}
	}
	for _, id := range b.Delete {
		if resource.IsGlobal(id.Kind) {
			edits = append(edits, mesh.Edit[resource.Object]{ID: id})
		}
	}
	slices.SortFunc(edits, func(a, b mesh.Edit[resource.Object]) int { return a.ID.Compare(b.ID) })
	return edits
}

// perMesh splits an admitted batch by mesh, sorted. It adds the meshes of the previous
// view that the change of placements concerns.
func (b *Batch) perMesh(before *View, e mesh.Enforcement) []*mesh.Batch {
	byName := map[string]*mesh.Batch{}
	of := func(name string) *mesh.Batch {
		m := byName[name]
		if m == nil {
			m = &mesh.Batch{Mesh: name}
			byName[name] = m
		}
		return m
	}
	set := b.upserts()
	for _, m := range set.Meshes {
		of(m.Name).Document = mesh.Upsert(m)
	}
	for name, run := range runsOfMesh(set.Dataplanes) {
		m := of(name)
		m.Dataplanes = slices.Grow(m.Dataplanes, len(run))
		for _, d := range run {
			m.Dataplanes = append(m.Dataplanes, mesh.Upsert(d))
		}
	}
	for name, run := range runsOfMesh(set.Policies) {
		m := of(name)
		m.Policies = slices.Grow(m.Policies, len(run))
		for _, p := range run {
			m.Policies = append(m.Policies, mesh.Upsert(before.reading.Semantics.AsStored(p)))
		}
	}
	for _, i := range set.Identities {
		m := of(i.Mesh)
		m.Identities = append(m.Identities, mesh.Upsert(i))
	}
	for _, t := range set.Trusts {
		m := of(t.Mesh)
		m.Trusts = append(m.Trusts, mesh.Upsert(t))
	}
	for _, o := range set.Objects {
		if id := o.Identity().ID; !resource.IsGlobal(id.Kind) {
			m := of(id.Mesh)
			m.Objects = append(m.Objects, mesh.Upsert(o))
		}
	}
	for _, id := range b.Delete {
		if ocm.IsKind(id.Kind) && id.Mesh == "" || resource.IsGlobal(id.Kind) {
			continue
		}
		m := of(id.Mesh)
		if resource.IsObject(id.Kind) {
			m.Objects = append(m.Objects, mesh.Edit[resource.Object]{ID: id})
			continue
		}
		switch id.Kind {
		case resource.MeshKind:
			m.Document.ID = id
		case resource.DataplaneKind:
			m.Dataplanes = append(m.Dataplanes, mesh.Edit[*resource.Dataplane]{ID: id})
		case resource.MeshIdentityKind:
			m.Identities = append(m.Identities, mesh.Edit[*resource.MeshIdentity]{ID: id})
		case resource.MeshTrustKind:
			m.Trusts = append(m.Trusts, mesh.Edit[*resource.MeshTrust]{ID: id})
		default:
			m.Policies = append(m.Policies, mesh.Edit[*resource.Policy]{ID: id})
		}
	}
	for _, m := range before.meshes {
		if e.Delta != nil && m.Concerns(e.Delta) {
			of(m.Name()).Enforcement.Delta = e.Delta
		}
	}
	batches := make([]*mesh.Batch, 0, len(byName))
	for _, m := range byName {
		m.Enforcement.State = e.State
		m.Sort()
		batches = append(batches, m)
	}
	slices.SortFunc(batches, func(a, b *mesh.Batch) int { return cmp.Compare(a.Mesh, b.Mesh) })
	return batches
}

// runsOfMesh yields the runs of consecutive resources of one mesh, with its name.
func runsOfMesh[R interface{ Identity() *resource.Meta }](list []R) iter.Seq2[string, []R] {
	return func(yield func(string, []R) bool) {
		for len(list) > 0 {
			name, n := list[0].Identity().Mesh, 1
			for n < len(list) && list[n].Identity().Mesh == name {
				n++
			}
			if !yield(name, list[:n]) {
				return
			}
			list = list[n:]
		}
	}
}

// checkDeletions returns an error for each deletion of a resource that is not in a
// view: a [diag.Errors].
func (b *Batch) checkDeletions(view *View) error {
	var sink diag.Sink
	for _, id := range b.Delete {
		if !view.has(id) {
			sink.Error(diag.Diagnostic{
				Code: diag.BadDeletion, Pos: diag.Position{File: id.String()}, What: "it is deleted, and does not exist",
				Hint: "compare the batch with the engine's view",
			})
		}
	}
	return sink.Err()
}
