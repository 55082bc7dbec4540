package diag

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clip shortens a text to at most the given number of bytes, plus the dots that it
// appends to a shortened text.
func Clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "..."
}

// OneLine escapes the parts of a text that would break the line or change a
// terminal: control characters, characters that change the direction of
// writing, and bytes that are not valid UTF-8.
func OneLine(text string) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, unprintable) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch char := text[i : i+size]; {
		case r == utf8.RuneError && size == 1, unprintable(r):
			b.WriteString(strings.Trim(strconv.Quote(char), `"`))
		default:
			b.WriteString(char)
		}
		i += size
	}
	return b.String()
}

// unprintable reports whether a character is not visible: control and format
// characters, and all spaces other than U+0020.
func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// Count returns n followed by an English noun in the right number. The noun is
// given in the singular; its plural must end in s or ies.
func Count(n int, noun string) string {
	stem, ends := strings.CutSuffix(noun, "y")
	switch {
	case n == 1:
		return "1 " + noun
	case ends:
		noun = stem + "ie"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
