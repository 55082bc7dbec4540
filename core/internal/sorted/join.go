package sorted

import "iter"

// Join merges two slices into one sequence of pairs, in their common order. Each slice
// must be sorted by compare, without two elements that compare equal. An element of a
// and an element of b that compare equal are one pair; any other element is in a pair
// with the zero value. Join does not call compare for elements that are ==.
func Join[T comparable](a, b []T, compare func(a, b T) int) iter.Seq2[T, T] {
	return func(yield func(a, b T) bool) {
		a, b := a, b
		for len(a)+len(b) > 0 {
			order := 0
			switch {
			case len(a) == 0:
				order = 1
			case len(b) == 0:
				order = -1
			case a[0] != b[0]:
				order = compare(a[0], b[0])
			}
			var x, y T
			if order <= 0 {
				x, a = a[0], a[1:]
			}
			if order >= 0 {
				y, b = b[0], b[1:]
			}
			if !yield(x, y) {
				return
			}
		}
	}
}
