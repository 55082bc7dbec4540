package lists

// Map returns the values that value makes of the elements, in their order; nil if there are none.
func Map[T, R any](list []T, value func(T) R) []R {
	var out []R
	if len(list) > 0 {
		out = make([]R, len(list))
	}
	for i := range list {
		out[i] = value(list[i])
	}
	return out
}

// MapPointers is [Map] with pointers to the elements, for elements that are large. Value must not change them.
func MapPointers[T, R any](list []T, value func(*T) R) []R {
	var out []R
	if len(list) > 0 {
		out = make([]R, len(list))
	}
	for i := range list {
		out[i] = value(&list[i])
	}
	return out
}

// Filter returns the elements for which holds reports true, in their order; nil if there are none.
func Filter[T any](list []T, holds func(T) bool) []T {
	var out []T
	for _, element := range list {
		if holds(element) {
			out = append(out, element)
		}
	}
	return out
}
