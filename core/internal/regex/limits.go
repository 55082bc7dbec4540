package regex

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ErrTooWide indicates that an expression exceeds [MaxUnicodeClasses] or [MaxFolded].
var ErrTooWide = errors.New(`it has more than 8 classes of Unicode (\p), or (?i) and ranges of more than 2048 characters in all`)

// MaxUnicodeClasses is the maximum number of Unicode classes, such as \pL and
// \P{Greek}, in an expression. Package regexp takes 20 µs for each.
const MaxUnicodeClasses = 8

// MaxFolded is the maximum number of characters in all ranges of an expression if
// (?i) applies to a part of it. Package regexp adds the cases of each character, in
// 40 ns.
const MaxFolded = 2048

// maxFold is the last character that has several cases; package regexp does not examine
// later characters.
const maxFold = 0x1e943

// scanner finds the parts of an expression that are expensive to parse. It reads the
// syntax of package regexp and accepts everything else, which package regexp refuses.
type scanner struct {
	rest    string
	fold    bool // there is a (?i)
	classes int  // the number of Unicode classes
	folded  int  // the number of characters in ranges, up to maxFold
}

// checkWidth returns [ErrTooWide] or nil. It takes linear time.
func checkWidth(expression string) error {
	s := scanner{rest: expression}
	for s.rest != "" {
		switch {
		case s.skip(`\Q`):
			_, s.rest, _ = strings.Cut(s.rest, `\E`)
		case s.skip("(?"):
			s.flags()
		case s.skip("["):
			s.class()
		case !s.namedClass():
			s.character()
		}
	}
	if s.classes > MaxUnicodeClasses || s.fold && s.folded > MaxFolded {
		return ErrTooWide
	}
	return nil
}

func (s *scanner) skip(prefix string) bool {
	rest, found := strings.CutPrefix(s.rest, prefix)
	s.rest = rest
	return found
}

// flags reads the flags of a group, after its (?.
func (s *scanner) flags() {
	n := 0
	for n < len(s.rest) && strings.IndexByte("imsU", s.rest[n]) >= 0 {
		n++
	}
	s.fold = s.fold || strings.Contains(s.rest[:n], "i")
	s.rest = s.rest[n:]
}

// class reads a class after its bracket.
func (s *scanner) class() {
	s.skip("^")
	for first := true; s.rest != "" && (first || !s.skip("]")); first = false {
		if strings.HasPrefix(s.rest, "[:") {
			if _, rest, closed := strings.Cut(s.rest[2:], ":]"); closed {
				s.rest = rest
				continue
			}
		}
		if s.namedClass() {
			continue
		}
		low := s.character()
		if strings.HasPrefix(s.rest, "-") && !strings.HasPrefix(s.rest, "-]") {
			s.rest = s.rest[1:]
			s.addRange(low, s.character())
		}
	}
}

// addRange adds a range. Package regexp does not examine a range that contains every
// character with several cases.
func (s *scanner) addRange(low, high rune) {
	if low > 'A' || high < maxFold {
		s.folded += max(0, int(min(high, maxFold)-low)+1)
	}
}

// namedClass reads a class such as \d, \pL or \p{Greek}, if there is one.
func (s *scanner) namedClass() bool {
	if len(s.rest) < 2 || s.rest[0] != '\\' || strings.IndexByte("dDsSwWpP", s.rest[1]) < 0 {
		return false
	}
	unicode := s.rest[1] == 'p' || s.rest[1] == 'P'
	s.rest = s.rest[2:]
	if unicode {
		s.classes++
		if s.skip("{") {
			_, s.rest, _ = strings.Cut(s.rest, "}")
		} else {
			s.character()
		}
	}
	return true
}

// character reads a character, which may be escaped. It returns 0 for the escapes of
// control characters.
func (s *scanner) character() rune {
	if !s.skip(`\`) {
		c, n := utf8.DecodeRuneInString(s.rest)
		s.rest = s.rest[n:]
		return c
	}
	digits, base := "", 16
	switch {
	case s.skip("x{"):
		digits, s.rest, _ = strings.Cut(s.rest, "}")
	case s.skip("x"):
		n := min(2, len(s.rest))
		digits, s.rest = s.rest[:n], s.rest[n:]
	case s.rest != "" && '0' <= s.rest[0] && s.rest[0] <= '7':
		n := 1
		for n < min(3, len(s.rest)) && '0' <= s.rest[n] && s.rest[n] <= '7' {
			n++
		}
		digits, base, s.rest = s.rest[:n], 8, s.rest[n:]
	case s.rest != "" && strings.IndexByte("afnrtv", s.rest[0]) >= 0:
		s.rest = s.rest[1:]
		return 0
	default:
		c, n := utf8.DecodeRuneInString(s.rest)
		s.rest = s.rest[n:]
		return c
	}
	code, _ := strconv.ParseUint(digits, base, 21) // on an error, package regexp refuses the expression
	return rune(code)
}
