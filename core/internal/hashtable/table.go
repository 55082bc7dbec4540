package hashtable

// Table is a multimap from hashes to values. Values with equal hashes are
// distinguished by the function given to [Table.Find]. The zero Table is empty; it
// allocates when a value is added.
type Table[T comparable] struct {
	nodes map[uint64]node[T]
	n     int
}

// node is a value, and those with the same hash that were added before it, usually none.
type node[T comparable] struct {
	value T
	next  *node[T]
}

// Find returns a value with the hash for which same returns true.
func (t *Table[T]) Find(hash uint64, same func(T) bool) (value T, found bool) {
	first, any := t.nodes[hash]
	for at := &first; any && at != nil; at = at.next {
		if same(at.value) {
			return at.value, true
		}
	}
	return value, false
}

// Add adds a value that is not in the table under the hash.
func (t *Table[T]) Add(hash uint64, value T) {
	if t.nodes == nil {
		t.nodes = map[uint64]node[T]{}
	}
	added := node[T]{value: value}
	if first, taken := t.nodes[hash]; taken {
		added.next = &node[T]{first.value, first.next}
	}
	t.nodes[hash] = added
	t.n++
}

// Remove removes a value that is in the table under the hash.
func (t *Table[T]) Remove(hash uint64, value T) {
	first := t.nodes[hash]
	var kept *node[T]
	for at := &first; at != nil; at = at.next {
		if at.value != value {
			kept = &node[T]{at.value, kept}
		}
	}
	if delete(t.nodes, hash); kept != nil {
		t.nodes[hash] = *kept
	}
	t.n--
}

// Len returns the number of values.
func (t *Table[T]) Len() int { return t.n }
