package each

// Of returns the values that value makes of the elements, in their order; nil if there are none.
func Of[T, R any](list []T, value func(T) R) []R {
	var out []R
	if len(list) > 0 {
		out = make([]R, len(list))
	}
	for i := range list {
		out[i] = value(list[i])
	}
	return out
}

// At is [Of] of pointers to the elements, for elements that are large. Value must not change them.
func At[T, R any](list []T, value func(*T) R) []R {
	var out []R
	if len(list) > 0 {
		out = make([]R, len(list))
	}
	for i := range list {
		out[i] = value(&list[i])
	}
	return out
}

// That returns the elements for which holds reports true, in their order; nil if there are none.
func That[T any](list []T, holds func(T) bool) []T {
	var out []T
	for _, element := range list {
		if holds(element) {
			out = append(out, element)
		}
	}
	return out
}
