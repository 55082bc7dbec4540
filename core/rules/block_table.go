package rules

// blockTable is the blocks of one type that exist, found by their inputs. It
// counts references; a block without any is forgotten, and whoever still has
// it, such as an older view, keeps it.
type blockTable[T any] struct {
	byHash map[uint64]*block[T]
	of     map[*T]*block[T]
}

type block[T any] struct {
	value *T
	scope any // inputs of different scopes are never the same
	hash  uint64
	refs  int
	next  *block[T] // with the same hash
}

func newBlockTable[T any]() blockTable[T] {
	return blockTable[T]{byHash: map[uint64]*block[T]{}, of: map[*T]*block[T]{}}
}

// take returns the block of that scope and hash for which same is true, with
// one more reference, or nil.
func (t *blockTable[T]) take(scope any, hash uint64, same func(*T) bool) *T {
	for b := t.byHash[hash]; b != nil; b = b.next {
		if b.scope == scope && same(b.value) {
			b.refs++
			return b.value
		}
	}
	return nil
}

// put adds a block with one reference.
func (t *blockTable[T]) put(scope any, hash uint64, value *T) {
	b := &block[T]{value: value, scope: scope, hash: hash, refs: 1, next: t.byHash[hash]}
	t.byHash[hash], t.of[value] = b, b
}

// hold takes one more reference to a block that has some.
func (t *blockTable[T]) hold(value *T) { t.of[value].refs++ }

// release gives a reference back and reports whether it was the last.
func (t *blockTable[T]) release(value *T) (last bool) {
	b := t.of[value]
	if b.refs--; b.refs > 0 {
		return false
	}
	delete(t.of, value)
	at := t.byHash[b.hash]
	switch {
	case at != b:
		for at.next != b {
			at = at.next
		}
		at.next = b.next
	case b.next != nil:
		t.byHash[b.hash] = b.next
	default:
		delete(t.byHash, b.hash)
	}
	return true
}
