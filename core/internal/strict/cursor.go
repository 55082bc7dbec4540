package strict

import "github.com/meshmatch/meshmatch/core/diag"

// cursor reads the values of a text in order. One of scalar, enter, capture and
// skip consumes each value.
type cursor interface {
	// kind returns the kind of the next value.
	kind() Kind
	// tagFlaw returns the error in the tag of the next value, or nil.
	tagFlaw() *flaw
	// peek returns the text of the next value, or nil if it is not a scalar. The text is
	// valid until a value or name is consumed, and must not be changed.
	peek() []byte
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
	// nameIn consumes the name of a field if it is a spelling of one of the fields, and
	// returns the index of the spelling. Otherwise it returns -1. It is faster than name,
	// because it does not convert the name to a string.
	nameIn(known *fields) (spelling int)
	// namePosition returns the position of the latest name.
	namePosition() diag.Position
	// leave ends the innermost mapping or list; all its parts must have been read.
	leave()
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
	kind() Kind
	// scalar returns the text of a scalar, and "" for other values.
	scalar(strings *localStrings) string
	// cursor returns a cursor whose next value is the node.
	cursor(strings *localStrings) cursor
	// in returns the node in a copy of its document.
	in(doc *Document) node
	// find returns the index of the first field of a mapping with the name, or
	// -1.
	find(name string) int
	// name and value return the two parts of the field at an index.
	name(i int) node
	value(i int) node
	// names yields the names of the fields of a mapping that are strings.
	names(strings *localStrings, yield func(string) bool)
	// element returns an element of a list, or nil.
	element(i int) node
}
