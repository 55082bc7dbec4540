package index

// A hashTable is an immutable map from 32-bit hashes to dense numbers; several
// numbers may share a hash, and the caller tells them apart. It is extendible
// hashing over a vector:
//
//	dir      2^depth pointers to buckets, by the hash's top bits
//	bucket   up to 64 slots of (hash, number+1), open addressing by its low bits
//
// An insertion copies one bucket (0.5 KB) and one page of dir. A full bucket
// splits in two by its next hash bit, and dir doubles when that bit is new to
// it: a table never rehashes all its keys at once.
type hashTable struct {
	dir   Vector[*bucket]
	depth uint8
	n     int
}

type bucket struct {
	owner *owner
	depth uint8 // hash bits that all hashes of this bucket share
	n     uint32
	slots []slot // a power of two, at least a quarter empty
}

type slot struct {
	hash uint32
	ref  uint32 // the number + 1; 0 is an empty slot
}

const (
	minSlots = 8
	maxSlots = 64 // above, a bucket splits if it may
)

// find returns a number with this hash for which same is true.
func (t *hashTable) find(hash uint32, same func(number uint32) bool) (number uint32, ok bool) {
	return t.dir.Value(dirAt(hash, t.depth)).find(hash, same)
}

func (b *bucket) find(hash uint32, same func(number uint32) bool) (number uint32, ok bool) {
	if b == nil {
		return 0, false
	}
	mask := uint32(len(b.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		switch s := b.slots[i]; {
		case s.ref == 0:
			return 0, false
		case s.hash == hash && same(s.ref-1):
			return s.ref - 1, true
		}
	}
}

// dirAt is the place in a directory of 2^depth buckets.
func dirAt(hash uint32, depth uint8) uint32 {
	return uint32(uint64(hash) >> (32 - depth))
}

func (b *bucket) put(s slot) {
	mask := uint32(len(b.slots) - 1)
	i := s.hash & mask
	for b.slots[i].ref != 0 {
		i = (i + 1) & mask
	}
	b.slots[i] = s
	b.n++
}

// full tells whether one more would leave less than a quarter of the slots
// empty.
func (b *bucket) full() bool { return 4*(b.n+1) > 3*uint32(len(b.slots)) }

// grow doubles the slots.
func (b *bucket) grow() {
	old := b.slots
	b.slots, b.n = make([]slot, 2*len(old)), 0
	for _, s := range old {
		if s.ref != 0 {
			b.put(s)
		}
	}
}
