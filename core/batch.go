package core

import (
	"cmp"
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Batch is changes that are applied together or not at all. The order of its
// parts has no meaning.
type Batch struct {
	// Upsert takes the place of the resources of the same identities, or
	// joins. Resources are not changed any more once they were given.
	Upsert resource.Set
	// Delete removes resources. Deleting what is not there is no error, so
	// that a batch may be repeated.
	Delete []resource.ID
}

// meshBatch is the part of a batch that concerns one mesh, each list sorted by
// identity, so that the result does not depend on the order of the input.
type meshBatch struct {
	mesh       string
	document   change[*resource.Mesh]
	dataplanes []change[*resource.Dataplane]
	policies   []change[*resource.Policy]
}

// change is an upsert, or a deletion where the resource is nil.
type change[T any] struct {
	id       resource.ID
	resource T
}

// perMesh splits a batch that was admitted, sorted by mesh.
func (b *Batch) perMesh() []*meshBatch {
	byName := map[string]*meshBatch{}
	of := func(mesh string) *meshBatch {
		m := byName[mesh]
		if m == nil {
			m = &meshBatch{mesh: mesh}
			byName[mesh] = m
		}
		return m
	}
	for _, m := range b.Upsert.Meshes {
		of(m.Name).document = change[*resource.Mesh]{m.ID, m}
	}
	for _, d := range b.Upsert.Dataplanes {
		m := of(d.Mesh)
		m.dataplanes = append(m.dataplanes, change[*resource.Dataplane]{d.ID, d})
	}
	for _, p := range b.Upsert.Policies {
		m := of(p.Mesh)
		m.policies = append(m.policies, change[*resource.Policy]{p.ID, p})
	}
	for _, id := range b.Delete {
		m := of(id.Mesh)
		switch id.Kind {
		case resource.MeshKind:
			m.document.id = id
		case resource.DataplaneKind:
			m.dataplanes = append(m.dataplanes, change[*resource.Dataplane]{id: id})
		default:
			m.policies = append(m.policies, change[*resource.Policy]{id: id})
		}
	}
	batches := make([]*meshBatch, 0, len(byName))
	for _, m := range byName {
		sortByID(m.dataplanes)
		sortByID(m.policies)
		batches = append(batches, m)
	}
	slices.SortFunc(batches, func(a, b *meshBatch) int { return cmp.Compare(a.mesh, b.mesh) })
	return batches
}

func sortByID[T any](changes []change[T]) {
	byID := func(a, b change[T]) int { return a.id.Compare(b.id) }
	if !slices.IsSortedFunc(changes, byID) {
		slices.SortFunc(changes, byID)
	}
}
