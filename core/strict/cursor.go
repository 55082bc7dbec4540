package strict

import "github.com/meshmatch/meshmatch/core/diag"

// cursor reads the values of a text one after the other, in the order of the
// text. Each value is consumed by one of scalar, enter, capture and skip.
type cursor interface {
	// kind returns the kind of the next value.
	kind() Kind
	// tagFlaw returns what is wrong with the tag of the next value, or nil.
	tagFlaw() *flaw
	// peek returns the text of the next value, "" if it is no scalar.
	peek() string
	// scalar consumes a scalar and returns its text.
	scalar() string
	// enter begins to read the parts of a mapping or list.
	enter()
	// size returns the number of elements of the list that was entered.
	size() int
	// more reports whether there is another part of the innermost mapping or
	// list that was entered.
	more() bool
	// name consumes the name of a field; the value of the field is next. It
	// returns what is wrong with a name that is no string.
	name() (string, *flaw)
	// nameIn consumes the name of a field if it is a key of the map, and returns
	// its value there. It is faster than name, as the name is not made a string.
	nameIn(known map[string]int) (value int, found bool)
	// namePosition returns the position of the latest name.
	namePosition() diag.Position
	// leave ends the innermost mapping or list; all of its parts must have been read.
	leave()
	// capture consumes a value and returns it for later.
	capture() node
	// skip consumes a value.
	skip()
}

// flaw is what is wrong with a part of a text, and what to do.
type flaw struct {
	code       diag.Code
	what, hint string
}

// node is a value of a text.
type node interface {
	position() diag.Position
	// cursor returns a cursor whose next value is the node.
	cursor(doc *Document) cursor
	// in returns the node in a copy of its document.
	in(doc *Document) node
	// find returns the index of a mapping's first field of that name, or -1.
	find(name string) int
	// name and value return the two parts of the field of an index.
	name(i int) node
	value(i int) node
	// names yields the names of the fields of a mapping that are strings.
	names(yield func(string) bool)
	// element returns an element of a list, or nil.
	element(i int) node
}
