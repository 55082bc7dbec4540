// Package sorted compares sorted slices.
package sorted

import "iter"

// Join yields the elements of two slices in their common order, each of which is sorted
// by compare and has no two elements that are equal by it. Elements of both slices that
// are equal by compare are one pair; in the pair of any other element the zero value is
// in place of the missing one. Elements that are the same value are not compared.
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
