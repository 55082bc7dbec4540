package access

import (
	"cmp"
	"slices"

	"github.com/meshmatch/meshmatch/core/permission"
)

// placeIn returns the place of an entry in a list; a decision by default is behind all.
func placeIn(l *List, by *permission.Place) int {
	for i := range l.Entries {
		if l.Entries[i].By == by {
			return i
		}
	}
	return len(l.Entries)
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
