package hashtable

// Len returns the number of values. It includes those that are no longer in use and are not
// yet freed.
func (t *Weak[V]) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.values.Len()
}

// Len returns the number of values.
func (t *Table[T]) Len() int {
	n := len(t.first)
	for _, others := range t.others {
		n += len(others)
	}
	return n
}
