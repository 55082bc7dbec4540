package variant

import (
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/index"
)

// A Table contains the variants of resource names. A variant has a content C, such as a
// version or a pointer; equal contents are equal values. A Table is immutable and safe
// for concurrent use. A [TableEditor] makes the next version, which shares what did not
// change with this one.
//
// For each key and value the table has the set of the names with a variant that depends
// on them. With these sets, [Table.Switches] finds the names that a change of parameters
// affects, among all names.
type Table[C comparable] struct {
	names    *index.Interner[string]
	entries  index.Vector[*entry[C]] // by the id of the name
	answers  *index.Interner[answer] // one reference for each name that depends on it
	postings index.Vector[index.Set] // ids of names, by the id of the answer
}

// A Variant is one variant of a resource name.
type Variant[C comparable] struct {
	// Constraint is canonical; see [Set.Constraint].
	Constraint Constraint
	Content    C
}

// entry is a name with its variants; the slices are parallel.
type entry[C comparable] struct {
	name     string
	set      *Set
	contents []C
}

func (e *entry[C]) variant(i int) Variant[C] { return Variant[C]{e.set.variants[i], e.contents[i]} }

// answer is the state of a key in parameters: its value or, with presence set, whether
// the key is present.
type answer struct {
	key, value string
	presence   bool
}

// NewTable returns a table without names.
func NewTable[C comparable]() *Table[C] {
	return &Table[C]{
		names:   index.NewInterner[string](),
		answers: index.NewInterner[answer](),
	}
}

// Len returns the number of names.
func (t *Table[C]) Len() int { return t.names.Len() }

// Choose returns the variant of a name that accepts the parameters, by its index in the
// [Set] of the name, and its content. If there is no such name, or no such variant of it,
// the index is -1 and ok is false. It does not allocate.
func (t *Table[C]) Choose(name string, p Parameters) (content C, variant int, ok bool) {
	e := t.entry(name)
	if e == nil {
		return content, -1, false
	}
	if variant, ok = e.set.Choose(p); !ok {
		return content, -1, false
	}
	return e.contents[variant], variant, true
}

// Set returns the set of a name, or nil.
func (t *Table[C]) Set(name string) *Set {
	if e := t.entry(name); e != nil {
		return e.set
	}
	return nil
}

func (t *Table[C]) entry(name string) *entry[C] {
	id, ok := t.names.Lookup(name)
	if !ok {
		return nil
	}
	return t.entries.Value(id)
}

// A Switch is a name whose variant is different for other parameters. Before or After is
// nil if no variant accepts the parameters.
type Switch[C comparable] struct {
	Name          string
	Before, After *Variant[C]
}

// Switches returns the names whose variant for the parameters after differs from that for
// the parameters before, sorted by name. It evaluates only names with a variant that
// depends on the difference.
func (t *Table[C]) Switches(before, after Parameters) []Switch[C] {
	var names index.Set
	for _, a := range differing(before, after) {
		if id, ok := t.answers.Lookup(a); ok {
			names = names.Or(t.postings.Value(id))
		}
	}
	var switches []Switch[C]
	for id := range names.All() {
		e := t.entries.Value(id)
		from, had := e.set.Choose(before)
		to, has := e.set.Choose(after)
		if had == has && from == to {
			continue
		}
		s := Switch[C]{Name: e.name}
		if had {
			v := e.variant(from)
			s.Before = &v
		}
		if has {
			v := e.variant(to)
			s.After = &v
		}
		switches = append(switches, s)
	}
	slices.SortFunc(switches, func(a, b Switch[C]) int { return strings.Compare(a.Name, b.Name) })
	return switches
}

// differing returns the answers on at least one of which a variant must depend if it
// accepts only one of the two. A value on which a variant does not depend is like any
// other value to it. So for k=v in one and k=w in the other these are v and w; for a key
// that is absent in one of them it is also the presence.
func differing(a, b Parameters) []answer {
	var answers []answer
	for key, value := range a {
		other, present := b[key]
		switch {
		case !present:
			answers = append(answers, answer{key: key, value: value}, answer{key: key, presence: true})
		case value != other:
			answers = append(answers, answer{key: key, value: value}, answer{key: key, value: other})
		}
	}
	for key, value := range b {
		if _, present := a[key]; !present {
			answers = append(answers, answer{key: key, value: value}, answer{key: key, presence: true})
		}
	}
	return answers
}
