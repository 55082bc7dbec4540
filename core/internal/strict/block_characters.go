package strict

import (
	"encoding/binary"
	"unicode/utf8"
)

// charSet is a set of classes of characters.
type charSet uint8

const (
	printable  charSet = 1 << iota // in a comment, or between quotes
	inName                         // in the name of a field without quotes, in flow style
	inKey                          // and in block style, such as the names of managedFields: k:{"port":80,"protocol":"TCP"}
	inText                         // in a text without quotes
	beginsText                     // at the beginning of a text without quotes, and of a name
	inFlow                         // in a text without quotes in flow style
)

// classes are the classes of each byte.
var classes = func() (classes [256]charSet) {
	for c := byte(' '); c <= '~'; c++ {
		classes[c] = printable
	}
	add := func(characters string, class charSet) {
		for _, c := range []byte(characters) {
			classes[c] |= class
		}
	}
	const alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	add(alphanumeric+"_/.", beginsText)
	add(alphanumeric+"_/.-", inName)
	add(alphanumeric+"_/.-:{}[]\",=+@~%()<>?!&|$^*", inKey)
	add(alphanumeric+"_/.-+*:,;=@~%()<>?!&|$^ ", inText)
	add(alphanumeric+"_/.-+*:;=@~%()<>$^ ", inFlow)
	for c := utf8.RuneSelf; c < len(classes); c++ { // of characters that isPlain accepts
		classes[c] = printable | inName | inKey | inText | beginsText | inFlow
	}
	return classes
}()

// isPlain reports whether a text is UTF-8 without characters beyond ASCII that have a meaning
// in YAML, or that it does not allow.
func isPlain(text []byte) bool {
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			for i++; i+8 <= len(text) && binary.LittleEndian.Uint64(text[i:])&0x80808080_80808080 == 0; {
				i += 8
			}
			continue
		}
		char, size := utf8.DecodeRune(text[i:])
		switch {
		case char == utf8.RuneError && size == 1, char < '\u00a0', char == '\u2028', char == '\u2029', char == '\ufeff', char == '\ufffe', char == '\uffff':
			return false
		}
		i += size
	}
	return true
}

// all reports whether all bytes of a text are of a class.
func all(text []byte, class charSet) bool {
	for _, c := range text {
		if classes[c]&class == 0 {
			return false
		}
	}
	return true
}
