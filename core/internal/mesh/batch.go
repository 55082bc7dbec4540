package mesh

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Batch is a set of changes of one mesh. Its resources are valid, and no identity is
// in it twice.
type Batch struct {
	Mesh        string
	Enforcement Enforcement
	Document    Edit[*resource.Mesh] // the zero Edit: none
	Dataplanes  []Edit[*resource.Dataplane]
	Policies    []Edit[*resource.Policy]
	Objects     []Edit[resource.Object]
}

// Enforcement is the placements and bindings after a batch. Delta is what the batch
// changes in them; nil if it changes nothing, or nothing in this mesh.
type Enforcement struct {
	State *enforce.Hub
	Delta *enforce.Delta
}

// Edit is an upsert, or a deletion if the resource is nil. The ID of an upsert points into
// the resource: a first batch has one Edit per resource, and copies of the identities would
// double its size.
type Edit[T any] struct {
	ID       *resource.ID
	Resource T
}

// Upsert returns the edit that adds a resource or replaces its earlier version.
func Upsert[R interface{ Identity() *resource.Meta }](r R) Edit[R] {
	return Edit[R]{ID: &r.Identity().ID, Resource: r}
}

// editsOf returns the upserts of resources.
func editsOf[R interface{ Identity() *resource.Meta }](list []R) []Edit[R] {
	edits := make([]Edit[R], len(list))
	for i, r := range list {
		edits[i] = Upsert(r)
	}
	return edits
}

// Sort sorts the lists by identity, so that the result does not depend on the order
// of the input. If alreadySorted is set, the dataplanes and policies are sorted.
func (b *Batch) Sort(alreadySorted bool) {
	if !alreadySorted {
		sortByID(b.Dataplanes)
		sortByID(b.Policies)
	}
	sortByID(b.Objects)
}

func sortByID[T any](edits []Edit[T]) {
	slices.SortFunc(edits, func(a, b Edit[T]) int { return a.ID.Compare(*b.ID) })
}
