package index

import "slices"

// A hashTableEditor makes the next version of a hashTable.
type hashTableEditor struct {
	dir   VectorEditor[*bucket]
	depth uint8
	n     int
	owner *owner // of the buckets made since the last commit
}

func (t *hashTable) edit() hashTableEditor {
	return hashTableEditor{dir: t.dir.Edit(), depth: t.depth, n: t.n, owner: new(owner)}
}

// find as in hashTable, with the editor's own changes.
func (e *hashTableEditor) find(hash uint32, same func(number uint32) bool) (number uint32, ok bool) {
	return e.dir.Value(dirAt(hash, e.depth)).find(hash, same)
}

// insert adds number under hash. It must not be there yet.
func (e *hashTableEditor) insert(hash, number uint32) {
	b := e.own(hash)
	for b.full() {
		if len(b.slots) < maxSlots || !e.split(b, hash) {
			b.grow()
		}
		b = e.own(hash)
	}
	b.put(slot{hash, number + 1})
	e.n++
}

// remove removes number, which must be there, from under hash. Buckets are not
// joined again: a table keeps the directory of its largest size.
func (e *hashTableEditor) remove(hash, number uint32) {
	b := e.own(hash)
	mask := uint32(len(b.slots) - 1)
	hole := hash & mask
	for b.slots[hole].ref != number+1 {
		hole = (hole + 1) & mask
	}
	// What was pushed beyond its place by the removed slot moves back, so that a
	// search may stop at the first empty slot.
	for i := (hole + 1) & mask; b.slots[i].ref != 0; i = (i + 1) & mask {
		if home := b.slots[i].hash & mask; (i-home)&mask >= (i-hole)&mask {
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
	if b == nil { // the first of all
		b = &bucket{owner: e.owner, slots: make([]slot, minSlots)}
	} else {
		b = &bucket{owner: e.owner, depth: b.depth, n: b.n, slots: slices.Clone(b.slots)}
	}
	e.point(b, hash)
	return b
}

// point makes all directory entries of b, whose hashes begin like hash, point
// to it.
func (e *hashTableEditor) point(b *bucket, hash uint32) {
	shift := e.depth - b.depth
	first := dirAt(hash, e.depth) >> shift << shift
	for i := range uint32(1) << shift {
		*e.dir.Mut(first + i) = b
	}
}

// split parts b, which holds hashes that begin like hash, by the next bit. It
// refuses if that would make the directory larger than an eighth of the
// entries: only hashes that are not spread evenly can fill a bucket so early,
// and for them a longer bucket is the better way.
func (e *hashTableEditor) split(b *bucket, hash uint32) bool {
	if b.depth == e.depth {
		if 2<<e.depth > max(e.n/8, 2) {
			return false
		}
		e.double()
	}
	bit := uint32(1) << (31 - b.depth)
	halves := [2]*bucket{}
	for i := range halves {
		halves[i] = &bucket{owner: e.owner, depth: b.depth + 1, slots: make([]slot, len(b.slots))}
	}
	for _, s := range b.slots {
		if s.ref == 0 {
			continue
		}
		if s.hash&bit == 0 {
			halves[0].put(s)
		} else {
			halves[1].put(s)
		}
	}
	e.point(halves[0], hash&^bit)
	e.point(halves[1], hash|bit)
	return true
}

// double gives the directory one more bit.
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
	e.owner = new(owner)
	return hashTable{dir: e.dir.Commit(), depth: e.depth, n: e.n}
}
