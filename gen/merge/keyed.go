package merge

import (
	"slices"
	"strconv"
)

// An element is the [state] of an element of a list that merges by key. HashKey and EqualKeys use
// no state.
type element[T, S any] interface {
	state[T, S]
	HashKey(*T) uint64
	EqualKeys(a, b *T) bool
}

// A List is the state of merging a list by key. Its elements of type E are structs T or pointers
// to them. It is filled from the highest priority, so an element keeps the place of its first
// occurrence. Lower elements are placed before it: the list grows at the front, and the entries
// grow at the end. If the highest is first, both grow at the end.
type List[E, T, S any, P element[T, S]] struct {
	at           int32 // the highest item that has the list
	highestFirst bool
	room         []E               // ends with the list, unless the highest is first
	entries      []*entry[T, S, P] // from the last element to the first, or from the first to the last
}

// entry is the state of merging an element.
type entry[T, S any, P element[T, S]] struct {
	key   uint64 // hash of the key
	state S
}

// Fill merges a list whose new elements are placed before the higher ones; nil is not set.
func (s *List[E, T, S, P]) Fill(list, lower []E, item int32) []E {
	if lower == nil {
		return list
	}
	if s.at == 0 {
		s.at, list = item, []E{}
	}
	higher := len(list)
	var fresh []entry[T, S, P]
	var pointed []T // if elements are pointers
	for i := len(lower) - 1; i >= 0; i-- {
		x := structOf[E, T](&lower[i])
		if x == nil {
			continue
		}
		key := P(nil).HashKey(x)
		at := s.find(list, x, key)
		if at < 0 {
			if fresh == nil {
				fresh = make([]entry[T, S, P], i+1)
				s.entries = slices.Grow(s.entries, i+1)
				list = s.grow(list, i+1)
				if isPointer[E, T]() {
					pointed = make([]T, i+1)
				}
			}
			fresh[i].key = key
			at = len(s.entries)
			s.entries = append(s.entries, &fresh[i])
			list = s.extend(list)
			if pointed != nil {
				setStruct(s.element(list, at), &pointed[i])
			}
		}
		P(&s.entries[at].state).Fill(structOf[E, T](s.element(list, at)), x, item)
	}
	if s.highestFirst {
		slices.Reverse(list[higher:])
		slices.Reverse(s.entries[higher:])
	}
	return list
}

// FillHighestFirst is Fill for a list whose new elements are placed after the higher ones.
func (s *List[E, T, S, P]) FillHighestFirst(list, lower []E, item int32) []E {
	s.highestFirst = true
	return s.Fill(list, lower, item)
}

// Present records that an item has the list, which may be nil behind a pointer.
func (s *List[E, T, S, P]) Present(item int32) {
	if s.at == 0 {
		s.at = item
	}
}

// grow makes room for n more elements.
func (s *List[E, T, S, P]) grow(list []E, n int) []E {
	if s.highestFirst {
		return slices.Grow(list, n)
	}
	s.room = room(s.room, len(list), n)
	return list
}

// extend adds an element for which there is room.
func (s *List[E, T, S, P]) extend(list []E) []E {
	if s.highestFirst {
		return list[:len(list)+1]
	}
	return s.room[len(s.room)-len(list)-1:]
}

// element returns the element of an entry.
func (s *List[E, T, S, P]) element(list []E, entry int) *E {
	if s.highestFirst {
		return &list[entry]
	}
	return &list[len(list)-1-entry]
}

// find returns the entry with the key of x, or -1. It is a scan that compares hashes first,
// because such lists are short.
func (s *List[E, T, S, P]) find(list []E, x *T, key uint64) int {
	for i, entry := range s.entries {
		if entry.key == key && P(nil).EqualKeys(structOf[E, T](s.element(list, i)), x) {
			return i
		}
	}
	return -1
}

// Top returns the highest of the items.
func (s *List[E, T, S, P]) Top() int32 {
	if len(s.entries) == 0 {
		return s.at
	}
	var item int32
	for _, entry := range s.entries {
		item = max(item, P(&entry.state).Top())
	}
	return item
}

// Origins appends the items of all parts of the elements.
func (s *List[E, T, S, P]) Origins(dst []int, base int) []int {
	if len(s.entries) == 0 {
		return Origin(dst, base, s.at)
	}
	for _, entry := range s.entries {
		dst = P(&entry.state).Origins(dst, base)
	}
	return dst
}

// Leaves yields the elements: an element is one leaf.
func (s *List[E, T, S, P]) Leaves(path string, yield func(string, int) bool) bool {
	if len(s.entries) == 0 {
		return Leaf(path, "", s.at, yield)
	}
	for i := range s.entries {
		entry := s.entries[len(s.entries)-1-i]
		if s.highestFirst {
			entry = s.entries[i]
		}
		if !yield(path+"/"+strconv.Itoa(i), int(P(&entry.state).Top())-1) {
			return false
		}
	}
	return true
}

// structOf returns the struct that an element or an entry of type E is or points to.
func structOf[E, T any](e *E) *T {
	if t, is := any(e).(*T); is {
		return t
	}
	return *any(e).(**T)
}

// setStruct makes an element or an entry the struct t, or a pointer to it.
func setStruct[E, T any](e *E, t *T) {
	if v, is := any(e).(*T); is {
		*v = *t
	} else {
		*any(e).(**T) = t
	}
}

// isPointer reports whether elements of type E are pointers to structs.
func isPointer[E, T any]() bool { return any((*E)(nil)) != any((*T)(nil)) }
