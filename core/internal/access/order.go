package access

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/permission"
)

// placeIn returns the place of an entry in a list. A decision by default is after all
// entries.
func placeIn(l *List, by *permission.Place) int {
	for i := range l.Entries {
		if l.Entries[i].By == by {
			return i
		}
	}
	return len(l.Entries)
}

// Sort sorts decisions by the order of their entries in the list. A decision by default
// comes last.
func (l *List) Sort(by []Decision) {
	sortBy(by, func(d *Decision) [2]int { return [2]int{placeIn(l, d.By), 0} })
}

// Key returns the same text for lists whose entries are equal and have equal places in
// policies.
func (l *List) Key() string {
	var b strings.Builder
	fmt.Fprintln(&b, l.Open)
	for i := range l.Entries {
		e := &l.Entries[i]
		m := e.match()
		fmt.Fprintln(&b, m.key(), e.ValueScope, e.Tags, e.Allow, e.By.KRI, e.By.Rule, e.By.List, e.By.Index)
	}
	return b.String()
}

// sortBy sorts by two numbers, which it computes once for each element.
func sortBy[T any](list []T, of func(*T) [2]int) {
	type numbered struct {
		at [2]int
		T  T
	}
	all := make([]numbered, len(list))
	for i := range list {
		all[i] = numbered{of(&list[i]), list[i]}
	}
	slices.SortStableFunc(all, func(a, b numbered) int {
		return cmp.Or(cmp.Compare(a.at[0], b.at[0]), cmp.Compare(a.at[1], b.at[1]))
	})
	for i := range all {
		list[i] = all[i].T
	}
}
