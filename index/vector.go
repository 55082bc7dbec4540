package index

import "iter"

// A Vector is an immutable array of T that shares its pages with the previous and
// the next version. It is a tree of three levels whose shape is fixed:
//
//	root    one pointer per 2,048 elements
//	branch  64 pointers to leaves
//	leaf    32 elements
//
// Changing one element copies one leaf, one branch and the root: for 200,000
// elements of 32 bytes that is 1 KB + 0.5 KB + 0.8 KB. A tree of two levels
// would copy 25 KB of page pointers, and a map would copy all elements.
//
// The zero Vector is empty. An element that was never written is zero.
type Vector[T any] struct {
	root []*branch[T]
}

const (
	leafBits   = 5
	branchBits = 6
	spanBits   = leafBits + branchBits // elements below one root pointer, as a power of two

	leafMask   = 1<<leafBits - 1
	branchMask = 1<<branchBits - 1
)

// An owner marks the pages that one editor has made since its last commit and may
// still write. It is compared by address, so its size must not be zero. Readers do
// not use it.
type owner struct{ _ byte }

type branch[T any] struct {
	owner  *owner
	leaves [1 << branchBits]*leaf[T]
}

type leaf[T any] struct {
	owner *owner
	items [1 << leafBits]T
}

// Get returns element i for reading, or nil if its page was never written.
func (v *Vector[T]) Get(i uint32) *T {
	r := i >> spanBits
	if int(r) >= len(v.root) {
		return nil
	}
	b := v.root[r]
	if b == nil {
		return nil
	}
	l := b.leaves[i>>leafBits&branchMask]
	if l == nil {
		return nil
	}
	return &l.items[i&leafMask]
}

// Value returns element i, zero if it was never written.
func (v *Vector[T]) Value(i uint32) (t T) {
	if p := v.Get(i); p != nil {
		return *p
	}
	return t
}

// Edit returns an editor that starts from v.
func (v *Vector[T]) Edit() VectorEditor[T] {
	return VectorEditor[T]{now: *v}
}

// Unshared yields, in ascending order, the indexes of the elements in pages
// that v does not share with another version: all elements that differ, and at
// most 31 others for each of them. It compares every root pointer, but reads
// only the pages that differ.
func (v *Vector[T]) Unshared(other *Vector[T]) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for r := range max(len(v.root), len(other.root)) {
			a, b := v.branch(r), other.branch(r)
			if a == b {
				continue
			}
			for i := range uint32(1 << branchBits) {
				if a.leaf(i) == b.leaf(i) {
					continue
				}
				first := uint32(r)<<spanBits | i<<leafBits
				for n := range uint32(1 << leafBits) {
					if !yield(first + n) {
						return
					}
				}
			}
		}
	}
}

func (v *Vector[T]) branch(r int) *branch[T] {
	if r >= len(v.root) {
		return nil
	}
	return v.root[r]
}

func (b *branch[T]) leaf(i uint32) *leaf[T] {
	if b == nil {
		return nil
	}
	return b.leaves[i]
}

// A VectorEditor makes the next version of a Vector. Reads see its own writes.
type VectorEditor[T any] struct {
	now   Vector[T]
	owner *owner // nil until the first write after a commit; then the root is also owned
}

// Get is [Vector.Get], but includes the editor's own changes. The caller must not
// write to the element.
func (e *VectorEditor[T]) Get(i uint32) *T { return e.now.Get(i) }

// Value is [Vector.Value], but includes the editor's own changes.
func (e *VectorEditor[T]) Value(i uint32) T { return e.now.Value(i) }

// Mut returns element i for writing. The pointer is valid until Commit.
func (e *VectorEditor[T]) Mut(i uint32) *T {
	r := int(i >> spanBits)
	if e.owner == nil {
		e.owner = new(owner)
		root := make([]*branch[T], max(len(e.now.root), r+1))
		copy(root, e.now.root)
		e.now.root = root
	}
	for len(e.now.root) <= r {
		e.now.root = append(e.now.root, nil)
	}
	b := e.now.root[r]
	if b == nil {
		b = &branch[T]{owner: e.owner}
		e.now.root[r] = b
	} else if b.owner != e.owner {
		b = &branch[T]{owner: e.owner, leaves: b.leaves}
		e.now.root[r] = b
	}
	at := i >> leafBits & branchMask
	l := b.leaves[at]
	if l == nil {
		l = &leaf[T]{owner: e.owner}
		b.leaves[at] = l
	} else if l.owner != e.owner {
		l = &leaf[T]{owner: e.owner, items: l.items}
		b.leaves[at] = l
	}
	return &l.items[i&leafMask]
}

// Commit publishes the writes. The editor may be used again: it copies pages
// again before it writes them.
func (e *VectorEditor[T]) Commit() Vector[T] {
	e.owner = nil
	return e.now
}
