package index

// A hashTableEditor makes the next version of a hashTable.
type hashTableEditor struct {
	dir   VectorEditor[*bucket]
	depth uint8
	n     int
	owner *owner // of the buckets made since the last commit; nil until the first
}

func (t *hashTable) edit() hashTableEditor {
	return hashTableEditor{dir: t.dir.Edit(), depth: t.depth, n: t.n}
}

// grow chooses the directory of a table that never had entries for n of them: the buckets are
// made when they get their first entry, about five eighths full at most, and few are split.
func (e *hashTableEditor) grow(n int) {
	if e.depth > 0 || e.dir.Value(0) != nil {
		return
	}
	for n > bucketSlots*5/8<<e.depth {
		e.depth++
	}
}

// find is [hashTable.find], but includes the editor's own changes.
func (e *hashTableEditor) find(hash uint32, same func(number uint32) bool) (number uint32, ok bool) {
	return e.dir.Value(dirAt(hash, e.depth)).find(hash, same)
}

// insert adds number under hash. It must not be in the table.
func (e *hashTableEditor) insert(hash, number uint32) {
	b := e.own(hash)
	for b.full() && e.split(b, hash) {
		b = e.own(hash)
	}
	e.put(b, slot{hash, number + 1})
	e.n++
}

// put adds a slot to a bucket that the editor owns, or to one of its overflow
// buckets.
func (e *hashTableEditor) put(b *bucket, s slot) {
	for b.full() {
		b = e.ownMore(b)
	}
	b.slots[b.slotAt(s)] = s
	b.n++
}

// remove removes number, which must be in the table under hash. Buckets are not
// merged again: the directory of a table never shrinks.
func (e *hashTableEditor) remove(hash, number uint32) {
	s := slot{hash, number + 1}
	b := e.own(hash)
	hole := b.slotAt(s)
	for b.slots[hole] != s {
		b = e.ownMore(b)
		hole = b.slotAt(s)
	}
	// Slots that the removed one had displaced move back, so that a search can
	// stop at the first empty slot.
	for i := (hole + 1) & slotMask; b.slots[i].ref != 0; i = (i + 1) & slotMask {
		if home := b.slots[i].hash & slotMask; (i-home)&slotMask >= (i-hole)&slotMask {
			b.slots[hole] = b.slots[i]
			hole = i
		}
	}
	b.slots[hole] = slot{}
	b.n--
	e.n--
}

// own returns the bucket of hash for writing.
func (e *hashTableEditor) own(hash uint32) *bucket {
	at := dirAt(hash, e.depth)
	b := e.dir.Value(at)
	if b != nil && b.owner == e.owner {
		return b
	}
	if e.owner == nil {
		e.owner = new(owner)
	}
	b = e.copyOf(b)
	e.point(b, hash)
	return b
}

// ownMore returns the overflow bucket of an owned bucket, for writing.
func (e *hashTableEditor) ownMore(b *bucket) *bucket {
	if b.more == nil || b.more.owner != e.owner {
		b.more = e.copyOf(b.more)
	}
	return b.more
}

// copyOf returns a copy of b that the editor owns, or an empty bucket if b is
// nil.
func (e *hashTableEditor) copyOf(b *bucket) *bucket {
	made := bucket{depth: e.depth}
	if b != nil {
		made = *b
	}
	made.owner = e.owner
	return &made
}

// point sets all directory entries of b to b. Each hash in b has the same first
// b.depth bits as the given hash.
func (e *hashTableEditor) point(b *bucket, hash uint32) {
	shift := e.depth - b.depth
	first := dirAt(hash, e.depth) >> shift << shift
	for i := range uint32(1) << shift {
		*e.dir.Mut(first + i) = b
	}
}

// split splits b by the next bit and reports whether it did. Each hash in b has
// the same first b.depth bits as the given hash. split refuses if the directory
// would become larger than an eighth of the entries: only unevenly spread hashes
// can fill a bucket so early, and for them a chain of buckets is better.
func (e *hashTableEditor) split(b *bucket, hash uint32) bool {
	if b.depth == e.depth {
		if 2<<e.depth > max(e.n/8, 2) {
			return false
		}
		e.double()
	}
	bit := uint32(1) << (31 - b.depth)
	low := &bucket{owner: e.owner, depth: b.depth + 1}
	high := &bucket{owner: e.owner, depth: b.depth + 1}
	for from := b; from != nil; from = from.more {
		for _, s := range from.slots {
			switch {
			case s.ref == 0:
			case s.hash&bit == 0:
				e.put(low, s)
			default:
				e.put(high, s)
			}
		}
	}
	e.point(low, hash&^bit)
	e.point(high, hash|bit)
	return true
}

// double adds one bit to the directory.
func (e *hashTableEditor) double() {
	var wider VectorEditor[*bucket]
	for i := range uint32(1) << e.depth {
		b := e.dir.Value(i)
		*wider.Mut(2 * i), *wider.Mut(2*i + 1) = b, b
	}
	e.dir = wider
	e.depth++
}

func (e *hashTableEditor) commit() hashTable {
	e.owner = nil
	return hashTable{dir: e.dir.Commit(), depth: e.depth, n: e.n}
}
