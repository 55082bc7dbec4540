package blocks

import "github.com/meshmatch/meshmatch/core/internal/hashtable"

// refTable finds the blocks of one type by their inputs, and counts the
// references to each block. A block without references is removed from the
// table; a view that refers to it keeps it alive.
type refTable[T any] struct {
	byHash hashtable.Table[*block[T]]
	of     map[*T]*block[T]
}

type block[T any] struct {
	value *T
	scope any // inputs of different scopes are never equal
	hash  uint64
	refs  int
}

func newRefTable[T any]() refTable[T] {
	return refTable[T]{of: map[*T]*block[T]{}}
}

// take returns the block of the scope and hash for which same is true, and adds
// a reference to it. If there is no such block, it returns nil.
func (t *refTable[T]) take(scope any, hash uint64, same func(*T) bool) *T {
	b, found := t.byHash.Find(hash, func(b *block[T]) bool { return b.scope == scope && same(b.value) })
	if !found {
		return nil
	}
	b.refs++
	return b.value
}

// put adds a block with one reference.
func (t *refTable[T]) put(scope any, hash uint64, value *T) {
	b := &block[T]{value: value, scope: scope, hash: hash, refs: 1}
	t.byHash.Add(hash, b)
	t.of[value] = b
}

// hold adds a reference to a block that already has one.
func (t *refTable[T]) hold(value *T) { t.of[value].refs++ }

// release removes a reference and reports whether it was the last.
func (t *refTable[T]) release(value *T) (last bool) {
	b := t.of[value]
	if b.refs--; b.refs > 0 {
		return false
	}
	delete(t.of, value)
	t.byHash.Remove(b.hash, b)
	return true
}
