package source

import (
	"iter"
	"slices"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

// edits are changes of the lists of a set.
type edits struct {
	meshes     edit[*resource.Mesh]
	dataplanes edit[*resource.Dataplane]
	policies   edit[*resource.Policy]
	objects    edit[resource.Object]
	documents  edit[*resource.Document]
}

// edit are changes of a sorted list. If a resource is both put and removed, it is put.
type edit[T interface{ Identity() *resource.Meta }] struct {
	put     []T
	removed map[resource.ID]struct{}
}

func newEdits() *edits { return new(edits) }

// SetOf returns a set of one resource; nil is none.
func SetOf(value any) *resource.Set {
	edits := newEdits()
	edits.put(value)
	return edits.apply(new(resource.Set))
}

// Edited returns a set in which the resources of an edit are added or replaced, with the
// warnings of the edit. The resources of another set are removed. No given set is changed.
func Edited(set, edit, removed *resource.Set) *resource.Set {
	edits := newEdits()
	for _, value := range Resources(edit) {
		edits.put(value)
	}
	for _, value := range Resources(removed) {
		edits.remove(value)
	}
	after := edits.apply(set)
	after.Warnings = diag.Sorted(slices.Concat(set.Warnings, edit.Warnings))
	after.Ignores = slices.Concat(set.Ignores, edit.Ignores)
	return after
}

// put adds a resource, or replaces the one with its identity. Nil is none.
func (e *edits) put(value any) {
	switch v := value.(type) {
	case *resource.Mesh:
		e.meshes.put = append(e.meshes.put, v)
	case *resource.Dataplane:
		e.dataplanes.put = append(e.dataplanes.put, v)
	case *resource.Policy:
		e.policies.put = append(e.policies.put, v)
	case *resource.Document:
		e.documents.put = append(e.documents.put, v)
	case resource.Object:
		e.objects.put = append(e.objects.put, v)
	}
}

// remove removes a resource. Nil is none.
func (e *edits) remove(value any) {
	switch v := value.(type) {
	case *resource.Mesh:
		e.meshes.remove(v)
	case *resource.Dataplane:
		e.dataplanes.remove(v)
	case *resource.Policy:
		e.policies.remove(v)
	case *resource.Document:
		e.documents.remove(v)
	case resource.Object:
		e.objects.remove(v)
	}
}

func (e *edit[T]) remove(v T) {
	if e.removed == nil {
		e.removed = map[resource.ID]struct{}{}
	}
	e.removed[v.Identity().ID] = struct{}{}
}

// apply returns a copy of a set with the changes. Lists that do not change are shared.
func (e *edits) apply(before *resource.Set) *resource.Set {
	after := *before
	after.Meshes = e.meshes.apply(before.Meshes)
	after.Dataplanes = e.dataplanes.apply(before.Dataplanes)
	after.Policies = e.policies.apply(before.Policies)
	after.Objects = e.objects.apply(before.Objects)
	after.Documents = e.documents.apply(before.Documents)
	return &after
}

func (e *edit[T]) apply(before []T) []T {
	if len(e.put)+len(e.removed) == 0 {
		return before
	}
	slices.SortFunc(e.put, func(a, b T) int { return a.Identity().ID.Compare(b.Identity().ID) })
	after := make([]T, 0, len(before)+len(e.put))
	put := e.put
	for _, old := range before {
		id := old.Identity().ID
		for len(put) > 0 && put[0].Identity().ID.Compare(id) < 0 {
			after, put = append(after, put[0]), put[1:]
		}
		if len(put) > 0 && put[0].Identity().ID == id {
			continue // it is replaced
		}
		if _, removed := e.removed[id]; !removed {
			after = append(after, old)
		}
	}
	return append(after, put...)
}

// identity returns the identity of a resource; nil of nil.
func identity(value any) *resource.Meta {
	if v, ok := value.(interface{ Identity() *resource.Meta }); ok {
		return v.Identity()
	}
	return nil
}

// Resources yields all resources of a set with their identities.
func Resources(set *resource.Set) iter.Seq2[*resource.Meta, any] {
	return func(yield func(*resource.Meta, any) bool) {
		_ = yieldEach(set.Meshes, yield) && yieldEach(set.Dataplanes, yield) && yieldEach(set.Policies, yield) &&
			yieldEach(set.Objects, yield) && yieldEach(set.Documents, yield)
	}
}

func yieldEach[T interface{ Identity() *resource.Meta }](list []T, yield func(*resource.Meta, any) bool) bool {
	for _, v := range list {
		if !yield(v.Identity(), v) {
			return false
		}
	}
	return true
}
