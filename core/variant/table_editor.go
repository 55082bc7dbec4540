package variant

import (
	"fmt"

	"github.com/meshmatch/meshmatch/index"
)

// A TableEditor makes the next version of a [Table]: Replace changes names, Commit
// publishes. One goroutine may use it at a time.
type TableEditor[C comparable] struct {
	names    *index.InternerEditor[string]
	entries  index.VectorEditor[*entry[C]]
	answers  *index.InternerEditor[answer]
	postings index.VectorEditor[index.Set]
	edited   map[uint32]*index.SetEditor // postings, by the id of the answer
}

// Edit returns an editor that starts from t.
func (t *Table[C]) Edit() *TableEditor[C] {
	return &TableEditor[C]{
		names:    t.names.Edit(),
		entries:  t.entries.Edit(),
		answers:  t.answers.Edit(),
		postings: t.postings.Edit(),
		edited:   make(map[uint32]*index.SetEditor),
	}
}

// A Change is the effect of a replacement on the variants of one name. One response must
// contain all of it (SPEC 9.5). Variants are in the order of their sets.
type Change[C comparable] struct {
	Name    string
	Came    []Variant[C]
	Went    []Variant[C] // with the constraints with which they were sent
	Changed []Variant[C] // the new ones; the constraint is the same, the content differs
}

// Empty reports whether nothing changed.
func (c *Change[C]) Empty() bool { return len(c.Came)+len(c.Went)+len(c.Changed) == 0 }

// Replace replaces all variants of a name in one step; contents are parallel to the set's
// variants. A nil set removes the name. Variants that accept no parameters are not part
// of the change. Replace panics if the numbers of contents and variants differ, which is
// an error of the caller.
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
	e.file(id, answersOf(before.set), answersOf(set))
	switch {
	case set.Len() > 0:
		*e.entries.Mut(id) = after
	case known:
		*e.entries.Mut(id) = nil
		e.names.Release(id)
	}
	return change
}

// compare returns the difference between two sets of one name.
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

// file moves a name from the postings of the answers on which its variants depended to
// those of the answers on which they depend now.
func (e *TableEditor[C]) file(name uint32, before, after map[answer]bool) {
	for a := range after {
		e.posting(e.answers.Intern(a)).Add(name)
	}
	for a := range before {
		id, _ := e.answers.Lookup(a)
		if !after[a] {
			e.posting(id).Remove(name)
		}
		e.answers.Release(id)
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

// answersOf returns the answers on which some variant of a set depends.
func answersOf(set *Set) map[answer]bool {
	answers := make(map[answer]bool)
	for i := range set.variants {
		for _, d := range set.choice.Sets()[i].Dependencies() {
			for _, value := range d.Values {
				answers[answer{key: d.Key, value: value}] = true
			}
			if d.Presence {
				answers[answer{key: d.Key, presence: true}] = true
			}
		}
	}
	return answers
}

// Commit publishes the next version. The editor must not be used after that.
func (e *TableEditor[C]) Commit() *Table[C] {
	for answer, editor := range e.edited {
		*e.postings.Mut(answer) = editor.Commit()
	}
	return &Table[C]{
		names:    e.names.Commit(),
		entries:  e.entries.Commit(),
		answers:  e.answers.Commit(),
		postings: e.postings.Commit(),
	}
}
