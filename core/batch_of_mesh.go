package core

import (
	"cmp"
	"iter"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/mesh"
	"github.com/meshmatch/meshmatch/core/resource"
)

// perMesh splits an admitted batch by mesh, sorted. It adds the meshes of the previous
// view that the change of placements concerns. Sorted reports that the dataplanes and
// policies of the batch are known to be sorted.
func (b *Batch) perMesh(before *View, e mesh.Enforcement, sorted bool) []*mesh.Batch {
	var batches meshBatches
	batches.upsert(b.upserts(), before)
	for _, id := range b.Delete {
		if ocm.IsKind(id.Kind) && id.Mesh == "" || resource.IsGlobal(id.Kind) {
			continue
		}
		batches.delete(id)
	}
	for _, m := range before.meshes {
		if e.Delta != nil && m.Concerns(e.Delta) {
			batches.batchFor(m.Name()).Enforcement.Delta = e.Delta
		}
	}
	batches.sort(e.State, sorted && len(b.Delete) == 0)
	return batches
}

// meshBatches are batches, sorted by the name of their mesh.
type meshBatches []*mesh.Batch

// batchFor returns the batch of a mesh, which may be new.
func (all *meshBatches) batchFor(name string) *mesh.Batch {
	at, known := slices.BinarySearchFunc(*all, name, func(b *mesh.Batch, name string) int { return cmp.Compare(b.Mesh, name) })
	if !known {
		*all = slices.Insert(*all, at, &mesh.Batch{Mesh: name})
	}
	return (*all)[at]
}

// upsert adds the resources of a set, except those that belong to no mesh.
func (all *meshBatches) upsert(set *resource.Set, before *View) {
	for _, m := range set.Meshes {
		all.batchFor(m.Name).Document = mesh.Upsert(m)
	}
	for name, run := range runsOfMesh(set.Dataplanes) {
		b := all.batchFor(name)
		b.Dataplanes = slices.Grow(b.Dataplanes, len(run))
		for _, d := range run {
			b.Dataplanes = append(b.Dataplanes, mesh.Upsert(d))
		}
	}
	for name, run := range runsOfMesh(set.Policies) {
		b := all.batchFor(name)
		b.Policies = slices.Grow(b.Policies, len(run))
		for _, p := range run {
			b.Policies = append(b.Policies, mesh.Upsert(before.reading.Semantics.AsStored(p)))
		}
	}
	for _, o := range set.Objects {
		if id := o.Identity().ID; !resource.IsGlobal(id.Kind) {
			b := all.batchFor(id.Mesh)
			b.Objects = append(b.Objects, mesh.Upsert(o))
		}
	}
}

// delete adds the deletion of a resource of a mesh.
func (all *meshBatches) delete(id resource.ID) {
	b := all.batchFor(id.Mesh)
	if resource.IsObject(id.Kind) {
		b.Objects = append(b.Objects, mesh.Edit[resource.Object]{ID: &id})
		return
	}
	switch id.Kind {
	case resource.MeshKind:
		b.Document.ID = &id
	case resource.DataplaneKind:
		b.Dataplanes = append(b.Dataplanes, mesh.Edit[*resource.Dataplane]{ID: &id})
	default:
		b.Policies = append(b.Policies, mesh.Edit[*resource.Policy]{ID: &id})
	}
}

// sort sorts each batch, and gives it the placements after it. If alreadySorted is set, its
// dataplanes and policies are sorted.
func (all meshBatches) sort(state *enforce.Hub, alreadySorted bool) {
	for _, b := range all {
		b.Enforcement.State = state
		b.Sort(alreadySorted)
	}
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
