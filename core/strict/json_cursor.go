package strict

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/meshmatch/meshmatch/core/diag"
)

// jsonCursor is a [cursor] in a JSON text. The syntax of the text is checked
// already.
type jsonCursor struct {
	text    *jsonText
	strings *localStrings
	// offset is the beginning of the next value, or of the next token if the
	// next value is a scalar that was loaded.
	offset int
	next   jsonScalar
	// containers are those that begin at offset or later, in the order of
	// their beginnings.
	containers []container
	parts      int // of the container that was entered last
	nameBegin  int // of the latest name
	scratch    []byte
}

// jsonScalar is a scalar that was loaded; kind is 0 if there is none.
type jsonScalar struct {
	kind  Kind
	text  string
	begin int
}

// isSpace reports whether a byte may separate tokens, apart from commas and
// colons.
func isSpace(b byte) bool { return b == ' ' || b == '\n' || b == '\t' || b == '\r' }

// skipSeparators moves to the beginning of the next token.
func (c *jsonCursor) skipSeparators() byte {
	data, i := c.text.data, c.offset
	for isSpace(data[i]) || data[i] == ',' || data[i] == ':' {
		i++
	}
	c.offset = i
	return data[i]
}

// load reads the next value if it is a scalar.
func (c *jsonCursor) load() {
	if c.next.kind != 0 {
		return
	}
	first := c.skipSeparators()
	c.next.begin = c.offset
	switch first {
	case '{':
		c.next.kind = Mapping
	case '[':
		c.next.kind = List
	case '"':
		c.next.kind, c.next.text = String, c.quoted()
	default:
		raw := c.bare()
		c.next.text = c.strings.keep(raw)
		c.next.kind = plainKind(c.next.text)
	}
}

// quoted reads a string and returns its value, which does not refer to the
// text.
func (c *jsonCursor) quoted() string {
	begin := c.offset
	end, escaped := stringEnd(c.text.data, begin)
	c.offset = end
	if !escaped {
		return c.strings.keep(c.text.data[begin+1 : end-1])
	}
	c.scratch, _ = jsontext.AppendUnquote(c.scratch[:0], c.text.data[begin:end])
	return c.strings.keep(c.scratch)
}

// stringEnd returns the end of the string that begins at an offset, and whether
// it contains escapes. Most strings are short, so that a loop is faster than a
// search for the quote.
func stringEnd(data []byte, begin int) (end int, escaped bool) {
	for i := begin + 1; ; i++ {
		switch data[i] {
		case '"':
			return i + 1, escaped
		case '\\':
			escaped = true
			i++
		}
	}
}

// bare reads a number, true, false or null.
func (c *jsonCursor) bare() []byte {
	data, begin := c.text.data, c.offset
	i := begin
	for i < len(data) && !isSpace(data[i]) && data[i] != ',' && data[i] != '}' && data[i] != ']' {
		i++
	}
	c.offset = i
	return data[begin:i]
}

// skipParts moves to the end of a mapping or list.
func (c *jsonCursor) skipParts() {
	first := &c.containers[0]
	c.offset, c.containers = first.end, c.containers[1+first.within:]
}

func (c *jsonCursor) kind() Kind {
	c.load()
	return c.next.kind
}

func (c *jsonCursor) foreignTag() string { return "" }

func (c *jsonCursor) peek() string {
	c.load()
	return c.next.text
}

func (c *jsonCursor) scalar() string {
	c.load()
	text := c.next.text
	c.next.kind = 0
	return text
}

func (c *jsonCursor) enter() {
	c.skipSeparators()
	c.offset++
	c.parts, c.containers = c.containers[0].parts, c.containers[1:]
	c.next = jsonScalar{}
}

func (c *jsonCursor) size() int { return c.parts }

func (c *jsonCursor) more() bool {
	next := c.skipSeparators()
	return next != '}' && next != ']'
}

func (c *jsonCursor) name() (string, *flaw) {
	c.nameBegin = c.offset
	return c.quoted(), nil
}

func (c *jsonCursor) nameIn(known map[string]int) (int, bool) {
	end, escaped := stringEnd(c.text.data, c.offset)
	if escaped {
		return 0, false
	}
	value, found := known[string(c.text.data[c.offset+1:end-1])]
	if found {
		c.nameBegin, c.offset = c.offset, end
	}
	return value, found
}

func (c *jsonCursor) namePosition() diag.Position {
	return (&jsonNode{text: c.text, begin: c.nameBegin}).position()
}

func (c *jsonCursor) leave() { c.offset++ }

func (c *jsonCursor) capture() node {
	containers := c.containers
	c.skip()
	return &jsonNode{text: c.text, strings: c.strings, begin: c.next.begin, containers: containers}
}

func (c *jsonCursor) skip() {
	if c.load(); c.next.kind == Mapping || c.next.kind == List {
		c.skipParts()
	}
	c.next.kind = 0
}
