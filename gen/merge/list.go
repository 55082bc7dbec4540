package merge

import (
	"slices"
	"strconv"
)

// room returns list, or a larger copy, with n free elements before the last used ones.
func room[E any](list []E, used, n int) []E {
	if len(list)-used >= n {
		return list
	}
	grown := make([]E, used+max(used, n))
	copy(grown[len(grown)-used:], list[len(list)-used:])
	return grown
}

// Appended is the state of a list to which the lists of higher confs are appended. It is filled
// from the highest priority, so it grows at the front; each conf adds one run of elements.
type Appended[E any] struct {
	at   int32 // the highest item that has the list
	room []E   // ends with the list
	runs []run // from the end of the list to its front
}

// run is a run of elements of one item.
type run struct {
	item int32
	n    int
}

// Fill puts a list before the higher ones; nil is not set.
func (s *Appended[E]) Fill(list, lower []E, item int32) []E {
	if lower == nil {
		return list
	}
	if s.at == 0 {
		s.at, list = item, []E{}
	}
	if len(lower) == 0 {
		return list
	}
	s.runs = append(s.runs, run{item, len(lower)})
	s.room = room(s.room, len(list), len(lower))
	list = s.room[len(s.room)-len(list)-len(lower):]
	copy(list, lower)
	return list
}

// Present records that an item has the list, which may be nil behind a pointer.
func (s *Appended[E]) Present(item int32) {
	if s.at == 0 {
		s.at = item
	}
}

// Top returns the highest of the items.
func (s *Appended[E]) Top() int32 {
	if len(s.runs) == 0 {
		return s.at
	}
	return s.runs[0].item
}

// Origins appends the items.
func (s *Appended[E]) Origins(dst []int, base int) []int {
	if len(s.runs) == 0 {
		return Origin(dst, base, s.at)
	}
	for _, run := range s.runs {
		dst = Origin(dst, base, run.item)
	}
	return dst
}

// Leaves yields the elements.
func (s *Appended[E]) Leaves(path string, yield func(string, int) bool) bool {
	if len(s.runs) == 0 {
		return Leaf(path, "", s.at, yield)
	}
	i := 0
	for _, run := range slices.Backward(s.runs) {
		for range run.n {
			if !yield(path+"/"+strconv.Itoa(i), int(run.item)-1) {
				return false
			}
			i++
		}
	}
	return true
}
