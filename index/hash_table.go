package index

// A hashTable is an immutable map from 32-bit hashes to dense numbers. Several
// numbers may have the same hash, and the caller distinguishes them. It is
// extendible hashing over a vector:
//
//	dir      2^depth pointers to buckets, by the hash's top bits
//	bucket   64 slots of (hash, number+1), open addressing by its low bits
//
// An insertion copies one bucket (0.5 KB) and one page of dir. A full bucket
// splits in two by its next hash bit, and dir doubles if it does not distinguish
// that bit yet: a table never rehashes all its keys at once. A bucket contains
// its slots rather than a pointer to them, which saves one cache miss per lookup
// among many keys.
type hashTable struct {
	dir   Vector[*bucket]
	depth uint8
	n     int
}

type bucket struct {
	owner *owner
	more  *bucket // the overflow bucket, if this one is full and cannot be split; nil for evenly spread hashes
	depth uint8   // hash bits that all hashes of this bucket share
	n     uint8
	slots [bucketSlots]slot // a quarter of them empty
}

type slot struct {
	hash uint32
	ref  uint32 // the number + 1; 0 if the slot is empty
}

const (
	bucketSlots = 64
	slotMask    = bucketSlots - 1
	maxFilled   = bucketSlots * 3 / 4
)

// find returns a number with this hash for which same returns true.
func (t *hashTable) find(hash uint32, same func(number uint32) bool) (number uint32, ok bool) {
	return t.dir.Value(dirAt(hash, t.depth)).find(hash, same)
}

func (b *bucket) find(hash uint32, same func(number uint32) bool) (number uint32, ok bool) {
	for ; b != nil; b = b.more {
		for i := hash & slotMask; b.slots[i].ref != 0; i = (i + 1) & slotMask {
			if s := b.slots[i]; s.hash == hash && same(s.ref-1) {
				return s.ref - 1, true
			}
		}
	}
	return 0, false
}

// dirAt returns the index in a directory of 2^depth buckets.
func dirAt(hash uint32, depth uint8) uint32 {
	return uint32(uint64(hash) >> (32 - depth))
}

// slotAt returns the slot of a number, or the empty slot at which a search for it
// ends.
func (b *bucket) slotAt(s slot) uint32 {
	i := s.hash & slotMask
	for b.slots[i].ref != 0 && b.slots[i] != s {
		i = (i + 1) & slotMask
	}
	return i
}

func (b *bucket) full() bool { return b.n == maxFilled }
