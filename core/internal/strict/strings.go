package strict

import (
	"hash/maphash"
	"math/bits"
	"sync"
)

// Strings contains each string of the documents of a load once, because most
// strings repeat, such as the keys and values of tags. It is safe for
// concurrent use; the zero Strings is ready to use.
type Strings struct {
	mu   sync.Mutex
	seed maphash.Seed
	// table is a hash table with open addressing: a string is at the slot of its hash or
	// after it, before the next empty slot. At most half of the slots are in use. A map of
	// strings takes twice the memory and time, because it also has values.
	table []string
	used  int
}

// maxKept is the maximum length of a string that is looked up. Longer strings
// seldom repeat.
const maxKept = 128

// keep returns a string that does not refer to the text.
func (s *Strings) keep(text []byte) string {
	if len(text) == 0 || len(text) > maxKept {
		return string(text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if 2*s.used >= len(s.table) {
		s.grow()
	}
	at := s.find(maphash.Bytes(s.seed, text), text)
	if s.table[at] == "" {
		s.table[at] = string(text)
		s.used++
	}
	return s.table[at]
}

// find returns the slot of a text with the hash, or the empty slot for it.
func (s *Strings) find(hash uint64, text []byte) int {
	last := len(s.table) - 1
	at := int(hash) & last
	for s.table[at] != "" && s.table[at] != string(text) {
		at = (at + 1) & last
	}
	return at
}

func (s *Strings) grow() {
	old := s.table
	if old == nil {
		s.seed = maphash.MakeSeed()
	}
	s.table = make([]string, max(32, 2*len(old)))
	last := len(s.table) - 1
	for _, text := range old {
		if text == "" {
			continue
		}
		at := int(maphash.String(s.seed, text)) & last
		for s.table[at] != "" {
			at = (at + 1) & last
		}
		s.table[at] = text
	}
}

// localStrings contains strings that one goroutine recently looked up, because it
// is likely to look them up again. Looking up every string in a map took a fifth of
// the time of decoding dataplanes.
type localStrings struct {
	shared *Strings
	recent *[recentStrings]string // each at the slot of its text; nil: no strings are kept
}

const (
	recentStrings = 1 << recentBits
	recentBits    = 11
)

// keep returns a string that does not refer to the text.
func keep[T []byte | string](s *localStrings, text T) string {
	if s.recent == nil {
		return s.shared.keep([]byte(text))
	}
	recent := &s.recent[slot(text)]
	if *recent != string(text) {
		*recent = s.shared.keep([]byte(text))
	}
	return *recent
}

// slot returns a hash of the length, the first eight bytes and the last eight.
// Strings with the same slot only displace each other.
func slot[T []byte | string](text T) uint64 {
	const prime = 0x9e37_79b9_7f4a_7c15
	n := len(text)
	hash := uint64(n)
	if n < 8 {
		for i := range n {
			hash = hash<<8 | uint64(text[i])
		}
	} else {
		hash += bits.RotateLeft64(eightBytes(text, 0), 23) ^ eightBytes(text, n-8)
	}
	return hash * prime >> (64 - recentBits)
}

// eightBytes returns the eight bytes at an index.
func eightBytes[T []byte | string](text T, i int) uint64 {
	return uint64(text[i]) | uint64(text[i+1])<<8 | uint64(text[i+2])<<16 | uint64(text[i+3])<<24 |
		uint64(text[i+4])<<32 | uint64(text[i+5])<<40 | uint64(text[i+6])<<48 | uint64(text[i+7])<<56
}
