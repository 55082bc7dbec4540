package index

// A vector is an immutable array of T that shares its pages with the versions
// before and after it. It is a tree of three levels whose shape is fixed:
//
//	root    one pointer per 2,048 elements
//	branch  64 pointers to leaves
//	leaf    32 elements
//
// Changing one element copies one leaf, one branch and the root: for 200,000
// elements of 32 bytes that is 1 KB + 0.5 KB + 0.8 KB. Two levels would copy
// 25 KB of page pointers, and a map everything.
//
// The zero vector is empty. An element that was never written is zero.
type vector[T any] struct {
	root []*branch[T]
}

const (
	leafBits   = 5
	branchBits = 6
	spanBits   = leafBits + branchBits // elements below one root pointer, as a power of two

	leafMask   = 1<<leafBits - 1
	branchMask = 1<<branchBits - 1
)

// An owner marks the pages that one editor has made since its last commit and
// may therefore still write. It is compared by address and so must not be of
// size zero. Readers never look at it.
type owner struct{ _ byte }

type branch[T any] struct {
	owner  *owner
	leaves [1 << branchBits]*leaf[T]
}

type leaf[T any] struct {
	owner *owner
	items [1 << leafBits]T
}

// get returns element i for reading, or nil if its page was never written.
func (v *vector[T]) get(i uint32) *T {
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

// value returns element i, zero if it was never written.
func (v *vector[T]) value(i uint32) (t T) {
	if p := v.get(i); p != nil {
		return *p
	}
	return t
}

func (v *vector[T]) edit() vectorEditor[T] {
	return vectorEditor[T]{vector: *v}
}

// A vectorEditor makes the next version of a vector. Reads see its own writes.
type vectorEditor[T any] struct {
	vector[T]
	owner *owner // nil until the first write after a commit; then the root is owned too
}

// mut returns element i for writing. The pointer is good until commit.
func (e *vectorEditor[T]) mut(i uint32) *T {
	r := int(i >> spanBits)
	if e.owner == nil {
		e.owner = new(owner)
		root := make([]*branch[T], max(len(e.root), r+1))
		copy(root, e.root)
		e.root = root
	}
	for len(e.root) <= r {
		e.root = append(e.root, nil)
	}
	b := e.root[r]
	if b == nil {
		b = &branch[T]{owner: e.owner}
		e.root[r] = b
	} else if b.owner != e.owner {
		b = &branch[T]{owner: e.owner, leaves: b.leaves}
		e.root[r] = b
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

// commit publishes what was written. From here on the editor copies again.
func (e *vectorEditor[T]) commit() vector[T] {
	e.owner = nil
	return e.vector
}
