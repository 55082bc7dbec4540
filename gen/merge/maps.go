package merge

import (
	"maps"
	"slices"
	"strings"
)

// entries are the states of the entries of a map, by key. An entry is one leaf.
type entries[K ~string, X interface {
	Top() int32
	Origins(dst []int, base int) []int
}] struct {
	at    int32 // the highest item that has the map
	byKey map[K]X
}

// Top returns the highest of the items.
func (s *entries[K, X]) Top() int32 {
	if len(s.byKey) == 0 {
		return s.at
	}
	var item int32
	for _, entry := range s.byKey {
		item = max(item, entry.Top())
	}
	return item
}

// Origins appends the items of all parts of the entries.
func (s *entries[K, X]) Origins(dst []int, base int) []int {
	if len(s.byKey) == 0 {
		return Origin(dst, base, s.at)
	}
	for _, entry := range s.byKey {
		dst = entry.Origins(dst, base)
	}
	return dst
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// Leaves yields the entries, sorted by key.
func (s *entries[K, X]) Leaves(path string, yield func(string, int) bool) bool {
	if len(s.byKey) == 0 {
		return Leaf(path, "", s.at, yield)
	}
	for _, k := range slices.Sorted(maps.Keys(s.byKey)) {
		if !yield(path+"/"+pointerEscapes.Replace(string(k)), int(s.byKey[k].Top())-1) {
			return false
		}
	}
	return true
}

// leaf is the item of an entry that is replaced.
type leaf int32

func (l leaf) Top() int32                        { return int32(l) }
func (l leaf) Origins(dst []int, base int) []int { return Origin(dst, base, int32(l)) }

// A Map is the state of merging a map whose entries are replaced.
type Map[K ~string, V any] struct{ entries[K, leaf] }

// Fill merges a map; nil is not set, and neither is an entry for which isNil, which may be nil,
// returns true.
func (s *Map[K, V]) Fill(m, lower map[K]V, item int32, isNil func(V) bool) map[K]V {
	if lower == nil {
		return m
	}
	if s.at == 0 {
		s.at, m, s.byKey = item, make(map[K]V, len(lower)), make(map[K]leaf, len(lower))
	}
	for k, x := range lower {
		if s.byKey[k] == 0 && (isNil == nil || !isNil(x)) {
			m[k], s.byKey[k] = x, leaf(item)
		}
	}
	return m
}

// A StructMap is the state of merging a map whose entries of type E are structs T, or pointers to
// them, that merge field by field.
type StructMap[K ~string, E, T, S any, P state[T, S]] struct {
	entries[K, *Slot[T, S, P]]
}

// Fill merges a map; nil is not set, and neither is a nil entry.
func (s *StructMap[K, E, T, S, P]) Fill(m, lower map[K]E, item int32) map[K]E {
	if lower == nil {
		return m
	}
	if s.at == 0 {
		s.at, m, s.byKey = item, make(map[K]E, len(lower)), make(map[K]*Slot[T, S, P], len(lower))
	}
	for k, x := range lower {
		from := structOf[E, T](&x)
		if from == nil {
			continue
		}
		entry := s.byKey[k]
		if entry == nil {
			entry = new(Slot[T, S, P])
			s.byKey[k] = entry
		}
		var v *T
		entry.Fill(&v, from, item)
		setStruct(&x, &entry.value)
		m[k] = x
	}
	return m
}
