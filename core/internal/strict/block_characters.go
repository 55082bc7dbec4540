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

// escape returns the end of the escape whose backslash is before an offset, or -1 if it is
// none of JSON. It does not read surrogate halves, which are complete only in pairs.
func escape(data []byte, at int) int {
	if at == len(data) {
		return -1
	}
	switch data[at] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return at + 1
	case 'u':
	default:
		return -1
	}
	if at+5 > len(data) {
		return -1
	}
	char := 0
	for _, c := range data[at+1 : at+5] {
		switch {
		case '0' <= c && c <= '9':
			char = char<<4 | int(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			char = char<<4 | int(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	if 0xd800 <= char && char < 0xe000 {
		return -1
	}
	return at + 5
}
