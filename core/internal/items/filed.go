package items

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/index"
)

// Filed contains items in lists by the selectors that their targetRefs name, so that a
// lookup compares few items with an outbound. An item of a targetRef with labels is in the
// list of one of them: the shortest list when it was added. The lists are in the order of
// the items. A Filed is immutable; versions share the lists that are equal.
type Filed[T any] struct {
	ids   *index.Interner[Selector]
	lists index.Vector[[]T]
}

// NewFiled returns a Filed without items.
func NewFiled[T any]() *Filed[T] { return &Filed[T]{ids: index.NewInterner[Selector]()} }

// ItemsFor returns the items of a selector. The caller must not change the list.
func (f *Filed[T]) ItemsFor(s Selector) []T {
	id, known := f.ids.Lookup(s)
	if !known {
		return nil
	}
	return f.lists.Value(id)
}

// Edit returns an editor that starts from f. Compare is the order of the items.
func (f *Filed[T]) Edit(s semantics.Semantics, compare func(a, b T) int) *FiledEditor[T] {
	return &FiledEditor[T]{semantics: s, compare: compare, ids: f.ids.Edit(), lists: f.lists.Edit(), made: map[uint32]bool{}}
}

// FiledEditor makes the next version of a [Filed].
type FiledEditor[T any] struct {
	semantics semantics.Semantics
	compare   func(a, b T) int
	ids       *index.InternerEditor[Selector]
	lists     index.VectorEditor[[]T]
	made      map[uint32]bool // the lists that no other version has
	buffer    []Selector
}

// Add adds an item with the targetRef t. If the targetRef can find nothing, it adds nothing.
func (e *FiledEditor[T]) Add(t *resource.TargetRef, item T) {
	e.buffer = AppendNames(e.buffer[:0], e.semantics, t)
	var shortest Selector
	least := -1
	for s := range labels(t) {
		if n := len(e.listFor(s)); least < 0 || n < least {
			shortest, least = s, n
		}
	}
	if least >= 0 {
		e.buffer = append(e.buffer, shortest)
	}
	for _, s := range e.buffer {
		id, _ := e.ids.Add(s)
		list := e.edit(id)
		at := len(*list)
		if at > 0 && e.compare((*list)[at-1], item) > 0 {
			at, _ = slices.BinarySearchFunc(*list, item, e.compare)
		}
		*list = slices.Insert(*list, at, item)
	}
}

// listFor returns the items of a selector. The caller must not change the list.
func (e *FiledEditor[T]) listFor(s Selector) []T {
	if id, known := e.ids.Lookup(s); known {
		return e.lists.Value(id)
	}
	return nil
}

// edit returns a list for writing.
func (e *FiledEditor[T]) edit(id uint32) *[]T {
	list := e.lists.Mut(id)
	if !e.made[id] {
		e.made[id] = true
		*list = slices.Clone(*list)
	}
	return list
}

// Remove removes the items with the targetRef t for which drops returns true.
func (e *FiledEditor[T]) Remove(t *resource.TargetRef, drops func(T) bool) {
	e.buffer = slices.AppendSeq(AppendNames(e.buffer[:0], e.semantics, t), labels(t))
	for _, s := range e.buffer {
		id, known := e.ids.Lookup(s)
		if !known || !slices.ContainsFunc(e.lists.Value(id), drops) {
			continue
		}
		list := e.edit(id)
		if *list = slices.DeleteFunc(*list, drops); len(*list) == 0 {
			*list = nil
			e.ids.Release(id)
			delete(e.made, id)
		}
	}
}

// Commit returns the next version.
func (e *FiledEditor[T]) Commit() *Filed[T] {
	clear(e.made)
	return &Filed[T]{ids: e.ids.Commit(), lists: e.lists.Commit()}
}
