package index

// A slab is an immutable vector that assigns dense numbers to its elements. It
// reuses the numbers of removed elements, last removed first, so the numbers
// depend only on the sequence of edits.
type slab[E any] struct {
	entries Vector[slabEntry[E]]
	n       int    // numbers in use
	limit   uint32 // greater than any number ever assigned
	free    uint32 // the first free number + 1, 0 if there is none
}

type slabEntry[E any] struct {
	value E
	refs  uint32 // for the owner of the slab, which may count references; the first is counted by add
	next  uint32 // of a free number: the next free number + 1; 0 if it is the last
}

// get returns the entry for reading. For a free number it returns one with a zero element,
// or nil if no number on its page was ever assigned.
func (s *slab[E]) get(number uint32) *slabEntry[E] { return s.entries.Get(number) }

func (s *slab[E]) edit() slabEditor[E] {
	return slabEditor[E]{entries: s.entries.Edit(), n: s.n, limit: s.limit, free: s.free}
}

// A slabEditor makes the next version of a slab.
type slabEditor[E any] struct {
	entries VectorEditor[slabEntry[E]]
	n       int
	limit   uint32
	free    uint32
}

// get is [slab.get], but includes the editor's own changes.
func (e *slabEditor[E]) get(number uint32) *slabEntry[E] { return e.entries.Get(number) }

// mut returns the entry for writing. The pointer is valid until commit.
func (e *slabEditor[E]) mut(number uint32) *slabEntry[E] { return e.entries.Mut(number) }

// add assigns a number to value, with one reference.
func (e *slabEditor[E]) add(value E) (number uint32) {
	if e.free == 0 {
		number = e.limit
		e.limit++
		*e.entries.Mut(number) = slabEntry[E]{value: value, refs: 1}
	} else {
		number = e.free - 1
		entry := e.entries.Mut(number)
		e.free = entry.next
		*entry = slabEntry[E]{value: value, refs: 1}
	}
	e.n++
	return number
}

// remove removes the element and frees its number.
func (e *slabEditor[E]) remove(number uint32) {
	*e.entries.Mut(number) = slabEntry[E]{next: e.free}
	e.free = number + 1
	e.n--
}

func (e *slabEditor[E]) commit() slab[E] {
	return slab[E]{entries: e.entries.Commit(), n: e.n, limit: e.limit, free: e.free}
}
