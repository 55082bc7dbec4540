package merge

import "slices"

// A state is a pointer to the state S of merging structs of type T. Fill returns the number of
// leaves that it has set.
type state[T, S any] interface {
	*S
	Fill(v, lower *T, item int32) (set int)
	Top() int32
	Origins(dst []int, base int) []int
	Leaves(path string, yield func(string, int) bool) bool
}

// Origin appends the item of a leaf to dst[base:], which is ascending and stays so.
func Origin(dst []int, base int, item int32) []int {
	if item == 0 {
		return dst
	}
	i, found := slices.BinarySearch(dst[base:], int(item)-1)
	if found {
		return dst
	}
	return slices.Insert(dst, base+i, int(item)-1)
}

// Leaf yields the leaf path+name, if an item set it.
func Leaf(path, name string, item int32, yield func(string, int) bool) bool {
	return item == 0 || yield(path+name, int(item)-1)
}

// Slot is the state of merging pointers to structs. It contains the result.
type Slot[T, S any, P state[T, S]] struct {
	at    int32 // the highest item that has one
	value T
	parts S
}

// Fill merges a pointer; nil is not set.
func (s *Slot[T, S, P]) Fill(v **T, lower *T, item int32) (set int) {
	if lower == nil {
		return 0
	}
	if s.at == 0 {
		*v, s.at = &s.value, item
	}
	return P(&s.parts).Fill(&s.value, lower, item)
}

// FillPresence is Fill for a struct without fields: its presence is the only leaf.
func (s *Slot[T, S, P]) FillPresence(v **T, lower *T, item int32) (set int) {
	if lower != nil && s.at == 0 {
		set = 1
	}
	return set + s.Fill(v, lower, item)
}

// Top returns the highest of the items.
func (s *Slot[T, S, P]) Top() int32 {
	if top := P(&s.parts).Top(); top != 0 {
		return top
	}
	return s.at
}

// Origins appends the items.
func (s *Slot[T, S, P]) Origins(dst []int, base int) []int {
	if P(&s.parts).Top() == 0 {
		return Origin(dst, base, s.at)
	}
	return P(&s.parts).Origins(dst, base)
}

// Leaves yields the leaves of the struct.
func (s *Slot[T, S, P]) Leaves(path string, yield func(string, int) bool) bool {
	if P(&s.parts).Top() == 0 {
		return Leaf(path, "", s.at, yield)
	}
	return P(&s.parts).Leaves(path, yield)
}
