package regex

import (
	"fmt"
	"math/bits"
	"strings"
	"unicode"
)

// set is a set of bytes. It contains some ASCII bytes, and either all other
// bytes or none.
type set struct {
	ascii  [2]uint64
	beyond bool
}

const asciiEnd = 0x80

func (s *set) has(c byte) bool { return c < asciiEnd && s.ascii[c>>6]>>(c&63)&1 == 1 }

func (s *set) add(c byte) { s.ascii[c>>6] |= 1 << (c & 63) }

// addRange adds the ASCII characters in a range. If the range contains all non-ASCII
// characters, it also adds the other bytes.
func (s *set) addRange(first, last rune) {
	for c := first; c <= min(last, asciiEnd-1); c++ {
		s.add(byte(c))
	}
	s.beyond = s.beyond || first <= asciiEnd && last == unicode.MaxRune
}

func (s *set) union(other set) {
	s.ascii[0] |= other.ascii[0]
	s.ascii[1] |= other.ascii[1]
	s.beyond = s.beyond || other.beyond
}

func (s set) without(other set) set {
	s.ascii[0] &^= other.ascii[0]
	s.ascii[1] &^= other.ascii[1]
	return s
}

func (s set) negated() set {
	return set{ascii: [2]uint64{^s.ascii[0], ^s.ascii[1]}, beyond: !s.beyond}
}

func (s set) intersects(other set) bool {
	return s.ascii[0]&other.ascii[0] != 0 || s.ascii[1]&other.ascii[1] != 0 || s.beyond && other.beyond
}

func (s set) len() int { return bits.OnesCount64(s.ascii[0]) + bits.OnesCount64(s.ascii[1]) }

func (s set) empty() bool { return s.len() == 0 && !s.beyond }

// single returns the byte of a set with only one byte.
func (s set) single() (byte, bool) {
	switch {
	case s.beyond || s.len() != 1:
		return 0, false
	case s.ascii[0] != 0:
		return byte(bits.TrailingZeros64(s.ascii[0])), true
	}
	return byte(64 + bits.TrailingZeros64(s.ascii[1])), true
}

// print appends the set as a class. The set must not contain every byte.
func (s set) print(b *strings.Builder) {
	if c, ok := s.single(); ok {
		printByte(b, c)
		return
	}
	b.WriteByte('[')
	ranges := s
	if s.beyond { // as the complement of the missing bytes, which are ASCII
		b.WriteByte('^')
		ranges = s.negated()
	}
	for c := 0; c < asciiEnd; c++ {
		first := c
		for c < asciiEnd && ranges.has(byte(c)) {
			c++
		}
		if c == first {
			continue
		}
		printByte(b, byte(first))
		if c-first > 2 {
			b.WriteByte('-')
		}
		if c-first > 1 {
			printByte(b, byte(c-1))
		}
	}
	b.WriteByte(']')
}

// printByte appends an ASCII character. It escapes a character that has a
// special meaning inside or outside a class.
func printByte(b *strings.Builder, c byte) {
	switch {
	case c < ' ' || c == 0x7f:
		fmt.Fprintf(b, `\x%02x`, c)
	case strings.IndexByte(`\.+*?()|[]{}^$-`, c) >= 0:
		b.WriteByte('\\')
		b.WriteByte(c)
	default:
		b.WriteByte(c)
	}
}
