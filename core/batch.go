package core

import (
	"cmp"
	"slices"

	"github.com/meshmatch/meshmatch/core/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Batch is a set of changes that are applied together or not at all. The order
// of its elements has no meaning.
type Batch struct {
	// Upsert contains resources that are added, or replace the resources of the
	// same identity; nil for none. The caller must not change them afterwards.
	Upsert *resource.Set
	// Delete contains the identities of resources that are removed. Deleting a
	// resource that does not exist is no error, so a batch can be repeated.
	Delete []resource.ID
}

// upserts returns the resources of Upsert.
func (b *Batch) upserts() *resource.Set {
	if b.Upsert == nil {
		return new(resource.Set)
	}
	return b.Upsert
}

// meshBatch is the part of a batch for one mesh, each list sorted by identity, so
// that the result does not depend on the order of the input.
type meshBatch struct {
	mesh       string
	enforce    enforcement
	document   edit[*resource.Mesh]
	dataplanes []edit[*resource.Dataplane]
	policies   []edit[*resource.Policy]
	identities []edit[*resource.MeshIdentity]
	trusts     []edit[*resource.MeshTrust]
}

// edit is an upsert, or a deletion if the resource is nil.
type edit[T any] struct {
	id       resource.ID
	resource T
}

// editsOf returns the upserts of resources.
func editsOf[R interface{ Identity() *resource.Meta }](list []R) []edit[R] {
	edits := make([]edit[R], len(list))
	for i, r := range list {
		edits[i] = edit[R]{r.Identity().ID, r}
	}
	return edits
}

// perMesh splits a batch that was admitted; the result is sorted by mesh. It
// includes the meshes of the view before that the change of placements concerns.
func (b *Batch) perMesh(before *View, e enforcement) []*meshBatch {
	byName := map[string]*meshBatch{}
	of := func(mesh string) *meshBatch {
		m := byName[mesh]
		if m == nil {
			m = &meshBatch{mesh: mesh}
			byName[mesh] = m
		}
		return m
	}
	set := b.upserts()
	for _, m := range set.Meshes {
		of(m.Name).document = edit[*resource.Mesh]{m.ID, m}
	}
	for _, d := range set.Dataplanes {
		m := of(d.Mesh)
		m.dataplanes = append(m.dataplanes, edit[*resource.Dataplane]{d.ID, d})
	}
	for _, p := range set.Policies {
		m := of(p.Mesh)
		m.policies = append(m.policies, edit[*resource.Policy]{p.ID, p})
	}
	for _, i := range set.Identities {
		m := of(i.Mesh)
		m.identities = append(m.identities, edit[*resource.MeshIdentity]{i.ID, i})
	}
	for _, t := range set.Trusts {
		m := of(t.Mesh)
		m.trusts = append(m.trusts, edit[*resource.MeshTrust]{t.ID, t})
	}
	for _, id := range b.Delete {
		if ocm.IsKind(id.Kind) && id.Mesh == "" {
			continue
		}
		m := of(id.Mesh)
		switch id.Kind {
		case resource.MeshKind:
			m.document.id = id
		case resource.DataplaneKind:
			m.dataplanes = append(m.dataplanes, edit[*resource.Dataplane]{id: id})
		case resource.MeshIdentityKind:
			m.identities = append(m.identities, edit[*resource.MeshIdentity]{id: id})
		case resource.MeshTrustKind:
			m.trusts = append(m.trusts, edit[*resource.MeshTrust]{id: id})
		default:
			m.policies = append(m.policies, edit[*resource.Policy]{id: id})
		}
	}
	for _, m := range before.meshes {
		if e.delta != nil && m.index.Concerns(m.name, e.delta) {
			of(m.name).enforce.delta = e.delta
		}
	}
	batches := make([]*meshBatch, 0, len(byName))
	for _, m := range byName {
		m.enforce.state = e.state
		sortByID(m.dataplanes)
		sortByID(m.policies)
		sortByID(m.identities)
		sortByID(m.trusts)
		batches = append(batches, m)
	}
	slices.SortFunc(batches, func(a, b *meshBatch) int { return cmp.Compare(a.mesh, b.mesh) })
	return batches
}

func sortByID[T any](edits []edit[T]) {
	slices.SortFunc(edits, func(a, b edit[T]) int { return a.id.Compare(b.id) })
}
