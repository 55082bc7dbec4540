package strict

// charSet is a set of classes of characters.
type charSet uint8

const (
	printable  charSet = 1 << iota // in a comment, or between quotes
	inName                         // in the name of a field without quotes
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
	add(alphanumeric+"_/", beginsText)
	add(alphanumeric+"_/.-", inName)
	add(alphanumeric+"_/.-+*:,;=@~%()<>?!&|$^ ", inText)
	add(alphanumeric+"_/.-+*:;=@~%()<>$^ ", inFlow)
	return classes
}()

// all reports whether all bytes of a text are of a class.
func all(text []byte, class charSet) bool {
	for _, c := range text {
		if classes[c]&class == 0 {
			return false
		}
	}
	return true
}
