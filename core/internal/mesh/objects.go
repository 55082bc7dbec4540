package mesh

import (
	"reflect"
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Objects are objects of one mesh, or those that belong to no mesh, sorted by
// identity. The list is immutable.
type Objects []resource.Object

// Get returns the object with the identity, or nil.
func (l Objects) Get(id resource.ID) resource.Object {
	at, found := slices.BinarySearchFunc(l, id, func(o resource.Object, id resource.ID) int { return o.Identity().Compare(id) })
	if !found {
		return nil
	}
	return l[at]
}

// After returns the list after edits, which are sorted by identity, and the kinds of the
// objects that they change, sorted. An upsert of an equal object at the same position of a
// file changes nothing.
func (l Objects) After(edits []Edit[resource.Object]) (next Objects, kinds []string) {
	edits = slices.DeleteFunc(slices.Clone(edits), func(e Edit[resource.Object]) bool {
		known := l.Get(*e.ID)
		return known == nil && e.Resource == nil || known != nil && e.Resource != nil && reflect.DeepEqual(known, e.Resource)
	})
	if len(edits) == 0 {
		return l, nil
	}
	next = make(Objects, 0, len(l)+len(edits))
	rest := l
	for _, e := range edits {
		kinds = append(kinds, e.ID.Kind)
		at, found := slices.BinarySearchFunc(rest, *e.ID, func(o resource.Object, id resource.ID) int { return o.Identity().Compare(id) })
		next = append(next, rest[:at]...)
		if rest = rest[at:]; found {
			rest = rest[1:]
		}
		if e.Resource != nil {
			next = append(next, e.Resource)
		}
	}
	return append(next, rest...), slices.Compact(kinds)
}

// Count adds the number of objects by kind.
func (l Objects) Count(counts map[string]int) {
	for _, o := range l {
		counts[o.Identity().Kind]++
	}
}
