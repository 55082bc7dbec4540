package strict

import "github.com/meshmatch/meshmatch/core/diag"

// flatCursor is a [cursor] in a [flatText].
type flatCursor struct {
	text    *flatText
	strings *localStrings
	next    int   // index of the next part
	latest  int   // index of the latest name
	ends    []int // of the entered mappings and lists
}

func (c *flatCursor) kind() Kind { return c.text.parts[c.next].kind }

func (c *flatCursor) tagFlaw() *flaw { return nil }

func (c *flatCursor) peek() []byte {
	if c.text.parts[c.next].isContainer() {
		return nil
	}
	return c.text.textOf(c.next)
}

func (c *flatCursor) scalar() string {
	text := keep(c.strings, c.text.textOf(c.next))
	c.next++
	return text
}

func (c *flatCursor) enter() {
	c.ends = append(c.ends, c.next+int(c.text.parts[c.next].parts))
	c.next++
}

func (c *flatCursor) size() int {
	size := 0
	for range c.text.within(c.next - 1) {
		size++
	}
	return size
}

func (c *flatCursor) more() bool { return c.next < c.ends[len(c.ends)-1] }

func (c *flatCursor) name() (string, *flaw) {
	name := keep(c.strings, c.text.textOf(c.next))
	c.latest = c.next
	c.next++
	if kind := c.text.parts[c.latest].kind; kind != String {
		return "", badName(kind, name)
	}
	return name, nil
}

func (c *flatCursor) nameIn(known *fields) int {
	spelling := -1
	if c.text.parts[c.next].kind == String {
		spelling = spellingOf(known, c.text.textOf(c.next))
	}
	if spelling >= 0 {
		c.latest = c.next
		c.next++
	}
	return spelling
}

func (c *flatCursor) namePosition() diag.Position {
	name := flatNode{c.text, c.latest}
	return name.position()
}

func (c *flatCursor) leave() { c.ends = c.ends[:len(c.ends)-1] }

func (c *flatCursor) skip() { c.next += int(c.text.parts[c.next].parts) }
