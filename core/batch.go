package core

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/diag"
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

// upserts returns the resources of Upsert, which must not be changed.
func (b *Batch) upserts() *resource.Set {
	if b.Upsert == nil {
		return &noResources
	}
	return b.Upsert
}

var noResources resource.Set

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
			edits = append(edits, mesh.Edit[resource.Object]{ID: &id})
		}
	}
	slices.SortFunc(edits, func(a, b mesh.Edit[resource.Object]) int { return a.ID.Compare(*b.ID) })
	return edits
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
