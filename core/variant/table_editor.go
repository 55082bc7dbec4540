package variant

import (
	"fmt"

	"github.com/meshmatch/meshmatch/index"
)

// A TableEditor makes the next version of a [Table]. One goroutine uses it at a
// time.
type TableEditor[C comparable] struct {
	names    *index.InternerEditor[string]
	entries  index.VectorEditor[*entry[C]]
	variants *index.InternerEditor[variantKey]
	owners   index.VectorEditor[uint32]
	answers  *index.InternerEditor[answer]
	postings index.VectorEditor[index.Set]
	edited   map[uint32]*index.SetEditor // postings, by the id of the answer
}

// Edit returns an editor that starts from t.
func (t *Table[C]) Edit() *TableEditor[C] {
	return &TableEditor[C]{
		names:    t.names.Edit(),
		entries:  t.entries.Edit(),
		variants: t.variants.Edit(),
		owners:   t.owners.Edit(),
		answers:  t.answers.Edit(),
		postings: t.postings.Edit(),
		edited:   make(map[uint32]*index.SetEditor),
	}
}

// A Change is what a replacement did to the variants of one name. All of it
// belongs into one response (SPEC 9.5). Variants are in the order of their
// sets.
type Change[C comparable] struct {
	Name    string
	Came    []Variant[C]
	Went    []Variant[C] // with the constraints that they were sent with
	Changed []Variant[C] // the same constraint with another content, the new one
}

// Empty reports whether nothing changed.
func (c *Change[C]) Empty() bool { return len(c.Came)+len(c.Went)+len(c.Changed) == 0 }

// Replace replaces all variants of a name at once; contents are parallel to
// the set's variants. A nil set removes the name. Variants that accept no
// parameters are not part of the change. Replace panics if there is not one
// content for each variant, which is an error of the caller.
func (e *TableEditor[C]) Replace(name string, set *Set, contents []C) Change[C] {
	if set == nil {
		set = &Set{}
	}
	if set.Len() != len(contents) {
		panic(fmt.Sprintf("variant: %q has %d variants and %d contents", name, set.Len(), len(contents)))
	}
	before := &entry[C]{set: &Set{}}
	id, known := e.names.Lookup(name)
	if known {
		before = e.entries.Value(id)
	} else if set.Len() > 0 {
		id = e.names.Intern(name)
	}
	after := &entry[C]{name: name, set: set, contents: contents}
	change := compare(before, after)
	for i := range set.variants {
		after.ids = append(after.ids, e.file(id, name, set, i))
	}
	for i, variant := range before.ids {
		e.unfile(variant, before.set, i)
	}
	switch {
	case set.Len() > 0:
		*e.entries.Mut(id) = after
	case known:
		*e.entries.Mut(id) = nil
		e.names.Release(id)
	}
	return change
}

// compare returns what differs between two sets of one name.
func compare[C comparable](before, after *entry[C]) Change[C] {
	change := Change[C]{Name: after.name}
	old := make(map[string]int, before.set.Len())
	for i := range before.set.variants {
		if before.set.satisfiable(i) {
			old[before.set.variants[i].String()] = i
		}
	}
	for i := range after.set.variants {
		if !after.set.satisfiable(i) {
			continue
		}
		form := after.set.variants[i].String()
		switch was, known := old[form]; {
		case !known:
			change.Came = append(change.Came, after.variant(i))
		case before.contents[was] != after.contents[i]:
			change.Changed = append(change.Changed, after.variant(i))
		}
		delete(old, form)
	}
	for i := range before.set.variants {
		if was, left := old[before.set.variants[i].String()]; left && was == i {
			change.Went = append(change.Went, before.variant(i))
		}
	}
	return change
}

// file adds a variant to the postings of all answers that it depends on.
func (e *TableEditor[C]) file(name uint32, text string, set *Set, i int) uint32 {
	id := e.variants.Intern(variantKey{text, set.variants[i].String()})
	*e.owners.Mut(id) = name
	for a := range answersOf(set, i) {
		e.posting(e.answers.Intern(a)).Add(id)
	}
	return id
}

// unfile removes a variant from the postings, unless the set that replaced its
// own has the same variant.
func (e *TableEditor[C]) unfile(id uint32, set *Set, i int) {
	last := e.variants.Release(id)
	for a := range answersOf(set, i) {
		posting, _ := e.answers.Lookup(a)
		if last {
			e.posting(posting).Remove(id)
		}
		e.answers.Release(posting)
	}
}

func (e *TableEditor[C]) posting(answer uint32) *index.SetEditor {
	editor := e.edited[answer]
	if editor == nil {
		edit := e.postings.Value(answer).Edit()
		editor = &edit
		e.edited[answer] = editor
	}
	return editor
}

// answersOf yields the answers that a variant depends on.
func answersOf(set *Set, i int) func(yield func(answer) bool) {
	return func(yield func(answer) bool) {
		for _, d := range set.choice.Sets()[i].Dependencies() {
			for _, value := range d.Values {
				if !yield(answer{key: d.Key, value: value}) {
					return
				}
			}
			if d.Presence && !yield(answer{key: d.Key, presence: true}) {
				return
			}
		}
	}
}

// Commit publishes the next version. The editor must not be used after that.
func (e *TableEditor[C]) Commit() *Table[C] {
	for answer, editor := range e.edited {
		*e.postings.Mut(answer) = editor.Commit()
	}
	return &Table[C]{
		names:    e.names.Commit(),
		entries:  e.entries.Commit(),
		variants: e.variants.Commit(),
		owners:   e.owners.Commit(),
		answers:  e.answers.Commit(),
		postings: e.postings.Commit(),
	}
}
