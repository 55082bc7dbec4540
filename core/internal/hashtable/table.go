package hashtable

import "slices"

// Table is a multimap from hashes to values. Values with equal hashes are
// distinguished by the function given to [Table.Find]. The zero Table is empty; it
// allocates when a value is added.
type Table[T comparable] struct {
	first  map[uint64]T
	others map[uint64][]T // by hash: the values after the first; usually empty
}

// Find returns a value with the hash for which same returns true.
func (t *Table[T]) Find(hash uint64, same func(T) bool) (value T, found bool) {
	first, any := t.first[hash]
	if !any {
		return value, false
	}
	if same(first) {
		return first, true
	}
	for _, other := range t.others[hash] {
		if same(other) {
			return other, true
		}
	}
	return value, false
}

// Add adds a value that is not in the table under the hash.
func (t *Table[T]) Add(hash uint64, value T) {
	if t.first == nil {
		t.first = map[uint64]T{}
	}
	if _, taken := t.first[hash]; !taken {
		t.first[hash] = value
		return
	}
	if t.others == nil {
		t.others = map[uint64][]T{}
	}
	t.others[hash] = append(t.others[hash], value)
}

// Remove removes a value that is in the table under the hash.
func (t *Table[T]) Remove(hash uint64, value T) {
	others := t.others[hash]
	switch first := t.first[hash]; {
	case first != value:
		at := slices.Index(others, value)
		others = slices.Delete(others, at, at+1)
	case len(others) == 0:
		delete(t.first, hash)
		return
	default:
		t.first[hash] = others[len(others)-1]
		others = others[:len(others)-1]
	}
	if len(others) == 0 {
		delete(t.others, hash)
	} else {
		t.others[hash] = others
	}
}
