package strict

import (
	"math/bits"
	"sync"
)

// Strings contains each string of the documents of a load once: most of them,
// such as the keys and values of tags, repeat. It is safe for concurrent use;
// the zero Strings is ready to use.
type Strings struct {
	mu   sync.Mutex
	kept map[string]string
}

// maxKept is the length of the longest string that is looked up. Longer ones
// seldom repeat.
const maxKept = 128

// keep returns a string that does not refer to the text.
func (s *Strings) keep(text []byte) string {
	if len(text) > maxKept {
		return string(text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if kept, found := s.kept[string(text)]; found {
		return kept
	}
	if s.kept == nil {
		s.kept = map[string]string{}
	}
	kept := string(text)
	s.kept[kept] = kept
	return kept
}

// localStrings are some strings that one goroutine has looked up lately, most of
// those that it looks up next. To look up every string in a map took a fifth of the
// time of decoding dataplanes.
type localStrings struct {
	shared *Strings
	recent *[recentStrings]string // each at the slot of its text; nil: none are kept
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

// eightBytes returns the eight bytes from an index on.
func eightBytes[T []byte | string](text T, i int) uint64 {
	return uint64(text[i]) | uint64(text[i+1])<<8 | uint64(text[i+2])<<16 | uint64(text[i+3])<<24 |
		uint64(text[i+4])<<32 | uint64(text[i+5])<<40 | uint64(text[i+6])<<48 | uint64(text[i+7])<<56
}
