package strict

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/meshmatch/meshmatch/core/diag"
)

// jsonCursor is a [cursor] in a JSON text. The syntax of the text is checked
// already, so the cursor only finds where values end.
type jsonCursor struct {
	text    *jsonText
	strings *localStrings
	// offset is the beginning of the next value, or of the next token if the
	// next value is a scalar that was loaded.
	offset    int
	next      jsonScalar
	nameBegin int // of the latest name
	scratch   []byte
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
	end := stringEnd(c.text.data, begin)
	c.offset = end
	inner := c.text.data[begin+1 : end-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return c.strings.keep(inner)
	}
	c.scratch, _ = jsontext.AppendUnquote(c.scratch[:0], c.text.data[begin:end])
	return c.strings.keep(c.scratch)
}

// stringEnd returns the end of the string that begins at an offset.
func stringEnd(data []byte, begin int) int {
	for i := begin + 1; ; i++ {
		i += bytes.IndexByte(data[i:], '"')
		escapes := 0
		for data[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i + 1
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
	data, i := c.text.data, c.offset
	for depth := 0; ; {
		switch data[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				c.offset = i + 1
				return
			}
		case '"':
			i = stringEnd(data, i)
			continue
		}
		i++
	}
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
	c.next = jsonScalar{}
}

// size counts the elements of a list before they are read: they are then
// decoded into memory of the right size.
func (c *jsonCursor) size() int {
	data, n := c.text.data, 1
	for i, depth := c.offset, 0; ; i++ {
		switch data[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				if c.skipSeparators() == ']' {
					return 0
				}
				return n
			}
		case ',':
			if depth == 0 {
				n++
			}
		case '"':
			i = stringEnd(data, i) - 1
		}
	}
}

func (c *jsonCursor) more() bool {
	next := c.skipSeparators()
	return next != '}' && next != ']'
}

func (c *jsonCursor) name() (string, *flaw) {
	c.nameBegin = c.offset
	return c.quoted(), nil
}

func (c *jsonCursor) namePosition() diag.Position {
	return (&jsonNode{text: c.text, begin: c.nameBegin}).position()
}

func (c *jsonCursor) leave() { c.offset++ }

func (c *jsonCursor) capture() node {
	c.skip()
	return &jsonNode{text: c.text, begin: c.next.begin, end: c.offset}
}

func (c *jsonCursor) skip() {
	if c.load(); c.next.kind == Mapping || c.next.kind == List {
		c.skipParts()
	}
	c.next.kind = 0
}
