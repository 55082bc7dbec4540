package strict

import (
	"strconv"

	"github.com/meshmatch/meshmatch/core/diag"
)

// cursor reads the values of a document in order. One of scalar, enter, capture and
// skip consumes each value.
type cursor struct {
	text    *flatText
	strings *localStrings
	next    int   // index of the next part
	latest  int   // index of the latest name
	ends    []int // of the entered mappings and lists
}

// flaw is an error in a part of a text, with a hint.
type flaw struct {
	code       diag.Code
	what, hint string
}

// kind returns the kind of the next value.
func (c *cursor) kind() Kind { return c.text.parts[c.next].kind }

// tagFlaw returns the error in the tag of the next value, or nil.
func (c *cursor) tagFlaw() *flaw { return c.text.flaws[c.next] }

// peek returns the text of the next value, or nil if it is not a scalar. It must not be
// changed.
func (c *cursor) peek() []byte {
	if c.text.parts[c.next].isContainer() {
		return nil
	}
	return c.text.textOf(c.next)
}

// scalar consumes a scalar and returns its text.
func (c *cursor) scalar() string {
	text := keep(c.strings, c.text.textOf(c.next))
	c.next++
	return text
}

// enter begins to read the parts of a mapping or list.
func (c *cursor) enter() {
	c.ends = append(c.ends, c.next+int(c.text.parts[c.next].parts))
	c.next++
}

// size returns the number of elements of the list that was entered.
func (c *cursor) size() int {
	size := 0
	for range c.text.within(c.next - 1) {
		size++
	}
	return size
}

// more reports whether there is another part of the innermost mapping or list that was
// entered.
func (c *cursor) more() bool { return c.next < c.ends[len(c.ends)-1] }

// name consumes the name of a field; the value of the field is next. For a name that is
// not a string it returns a flaw.
func (c *cursor) name() (string, *flaw) {
	name := keep(c.strings, c.text.textOf(c.next))
	c.latest = c.next
	c.next++
	if bad := c.text.flaws[c.latest]; bad != nil {
		return "", bad
	}
	if kind := c.text.parts[c.latest].kind; kind != String {
		return "", &flaw{diag.WrongType, "a field's name must be a string, not " + describe(kind, name), "write it in quotes: " + strconv.Quote(name)}
	}
	return name, nil
}

// nameIn consumes the name of a field if it is a spelling of one of the fields, and
// returns the index of the spelling. Otherwise it returns -1. It is faster than name,
// because it does not convert the name to a string.
func (c *cursor) nameIn(known *fields) (spelling int) {
	spelling = -1
	if c.text.parts[c.next].kind == String {
		spelling = spellingOf(known, c.text.textOf(c.next))
	}
	if spelling >= 0 {
		c.latest = c.next
		c.next++
	}
	return spelling
}

// namePosition returns the position of the latest name.
func (c *cursor) namePosition() diag.Position { return c.text.position(c.latest) }

// leave ends the innermost mapping or list; all its parts must have been read.
func (c *cursor) leave() { c.ends = c.ends[:len(c.ends)-1] }

// skip consumes a value.
func (c *cursor) skip() { c.next += int(c.text.parts[c.next].parts) }
