package strict

import "github.com/meshmatch/meshmatch/core/diag"

// flatCursor is a [cursor] in a [flatText].
type flatCursor struct {
	text    *flatText
	strings *localStrings
	next    int    // index of the next part
	loaded  string // the text of the next value, if it is a scalar that was loaded
	known   Kind   // of the next value; 0: not loaded
	latest  int    // index of the latest name
	ends    []int  // of the entered mappings and lists
}

// load loads the next value if it is a scalar.
func (c *flatCursor) load() {
	if c.known != 0 {
		return
	}
	p := &c.text.parts[c.next]
	c.loaded = ""
	if p.kind != Mapping && p.kind != List {
		c.loaded = keep(c.strings, c.text.textOf(c.next))
	}
	c.known = p.kindOf(c.loaded)
}

// moveTo makes a part the next one.
func (c *flatCursor) moveTo(part int) { c.next, c.known = part, 0 }

func (c *flatCursor) kind() Kind {
	c.load()
	return c.known
}

func (c *flatCursor) tagFlaw() *flaw { return nil }

func (c *flatCursor) peek() string {
	c.load()
	return c.loaded
}

func (c *flatCursor) scalar() string {
	text := c.peek()
	c.skip()
	return text
}

func (c *flatCursor) enter() {
	c.ends = append(c.ends, c.next+int(c.text.parts[c.next].parts))
	c.moveTo(c.next + 1)
}

func (c *flatCursor) size() int { return int(c.text.parts[c.next-1].elements) }

func (c *flatCursor) more() bool { return c.next < c.ends[len(c.ends)-1] }

func (c *flatCursor) name() (string, *flaw) {
	name := keep(c.strings, c.text.textOf(c.next))
	c.latest = c.next
	c.moveTo(c.next + 1)
	if kind := c.text.parts[c.latest].kindOf(name); kind != String {
		return "", badName(kind, name)
	}
	return name, nil
}

func (c *flatCursor) nameIn(known map[string]int) (int, bool) {
	value, found := known[string(c.text.textOf(c.next))]
	if found {
		c.latest = c.next
		c.moveTo(c.next + 1)
	}
	return value, found
}

func (c *flatCursor) namePosition() diag.Position { return flatNode{c.text, c.latest}.position() }

func (c *flatCursor) leave() { c.ends = c.ends[:len(c.ends)-1] }

func (c *flatCursor) capture() node {
	n := flatNode{c.text, c.next}
	c.skip()
	return n
}

func (c *flatCursor) skip() { c.moveTo(c.next + int(c.text.parts[c.next].parts)) }
