package strict

import "github.com/meshmatch/meshmatch/core/diag"

// cursor reads the values of a text in order. One of scalar, enter, capture and
// skip consumes each value.
type cursor interface {
	// kind returns the kind of the next value.
	kind() Kind
	// tagFlaw returns the error in the tag of the next value, or nil.
	tagFlaw() *flaw
	// peek returns the text of the next value, or "" if it is not a scalar.
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
	// name consumes the name of a field; the value of the field is next. For a
	// name that is not a string it returns a flaw.
	name() (string, *flaw)
	// nameIn consumes the name of a field if it is a key of the map, and returns
	// the map's value. It is faster than name, because it does not convert the
	// name to a string.
	nameIn(known map[string]int) (value int, found bool)
	// namePosition returns the position of the latest name.
	namePosition() diag.Position
	// leave ends the innermost mapping or list; all its parts must have been read.
	leave()
	// capture consumes a value and returns it for later.
	capture() node
	// skip consumes a value.
	skip()
}

// flaw is an error in a part of a text, with a hint.
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
	// find returns the index of the first field of a mapping with the name, or
	// -1.
	find(name string) int
	// name and value return the two parts of the field at an index.
	name(i int) node
	value(i int) node
	// names yields the names of the fields of a mapping that are strings.
	names(yield func(string) bool)
	// element returns an element of a list, or nil.
	element(i int) node
}
