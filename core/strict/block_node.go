package strict

import "github.com/meshmatch/meshmatch/core/diag"

// blockNode is a value of a [blockText], or the name of a field.
type blockNode struct {
	text *blockText
	i    int // in text.parts
}

func (n blockNode) part() *blockPart { return &n.text.parts[n.i] }

func (n blockNode) position() diag.Position {
	p := n.part()
	return diag.Position{File: n.text.file, Line: n.text.firstLine + int(p.line) + 1, Column: int(p.column) + 1}
}

func (n blockNode) cursor(doc *Document) cursor {
	return &blockCursor{text: n.text, strings: doc.reader.strings, next: n.i}
}

func (n blockNode) in(doc *Document) node {
	if root, ok := doc.root.(blockNode); ok {
		return blockNode{root.text, n.i}
	}
	text := *n.text
	text.children = nil
	return blockNode{&text, n.i}
}

func (n blockNode) has(name string) bool { return n.find(name) >= 0 }

func (n blockNode) field(name string) node {
	if i := n.find(name); i >= 0 {
		return blockNode{n.text, i + 1}
	}
	return nil
}

func (n blockNode) fieldName(name string) node {
	if i := n.find(name); i >= 0 {
		return blockNode{n.text, i}
	}
	return nil
}

func (n blockNode) names(yield func(string) bool) {
	if n.part().kind != Mapping {
		return
	}
	for i := range n.text.within(n.i) {
		if name := n.text.nameOf(i); plainKind(name) == String && !yield(name) {
			return
		}
	}
}

func (n blockNode) element(i int) node {
	if n.part().kind != List || i >= int(n.part().elements) {
		return nil
	}
	return blockNode{n.text, n.text.childrenOf(n.i).parts[i]}
}

// find returns the index of the first name of a mapping's field, or -1.
func (n blockNode) find(name string) int {
	if n.part().kind != Mapping || plainKind(name) != String {
		return -1
	}
	steps := 0
	for i := range n.text.within(n.i) {
		if string(n.text.textOf(i)) == name {
			return i
		}
		if steps++; steps > smallMapping {
			if i, found := n.text.childrenOf(n.i).byName[name]; found {
				return i
			}
			return -1
		}
	}
	return -1
}

func (t *blockText) textOf(i int) []byte { return t.data[t.parts[i].begin:t.parts[i].end] }

// nameOf returns the name of a field.
func (t *blockText) nameOf(i int) string { return string(t.textOf(i)) }

// within yields the indexes of the elements of a list or the names of a mapping.
func (t *blockText) within(container int) func(yield func(i int) bool) {
	return func(yield func(int) bool) {
		p := &t.parts[container]
		for i, end := container+1, container+int(p.parts); i < end; {
			if !yield(i) {
				return
			}
			if p.kind == Mapping {
				i++ // to the value
			}
			i += int(t.parts[i].parts)
		}
	}
}

// blockChildren are the elements of a list, or the first name of each field of a
// mapping.
type blockChildren struct {
	parts  []int
	byName map[string]int
}

// childrenOf returns the children of a mapping or list. They are found once, so that
// it is read in linear time.
func (t *blockText) childrenOf(container int) *blockChildren {
	if known := t.children[container]; known != nil {
		return known
	}
	found := &blockChildren{}
	if t.parts[container].kind == Mapping {
		found.byName = map[string]int{}
	}
	for i := range t.within(container) {
		if found.byName == nil {
			found.parts = append(found.parts, i)
		} else if _, twice := found.byName[t.nameOf(i)]; !twice {
			found.byName[t.nameOf(i)] = i
		}
	}
	if t.children == nil {
		t.children = map[int]*blockChildren{}
	}
	t.children[container] = found
	return found
}

// blockCursor is a [cursor] in a [blockText].
type blockCursor struct {
	text    *blockText
	strings *localStrings
	next    int    // index of the next part
	loaded  string // the text of the next value, if it is a scalar and was read
	known   Kind   // of the next value; 0: was not read
	latest  int    // index of the latest name
	ends    []int  // of the mappings and lists that were entered
}

// load reads the next value if it is a scalar.
func (c *blockCursor) load() {
	if c.known != 0 {
		return
	}
	c.known, c.loaded = c.text.parts[c.next].kind, ""
	if c.known != Mapping && c.known != List {
		c.loaded = c.strings.keep(c.text.textOf(c.next))
	}
	if c.known == 0 {
		c.known = plainKind(c.loaded)
	}
}

func (c *blockCursor) kind() Kind {
	c.load()
	return c.known
}

func (c *blockCursor) foreignTag() string { return "" }

func (c *blockCursor) peek() string {
	c.load()
	return c.loaded
}

func (c *blockCursor) scalar() string {
	text := c.peek()
	c.skip()
	return text
}

func (c *blockCursor) enter() {
	c.ends = append(c.ends, c.next+int(c.text.parts[c.next].parts))
	c.next, c.known = c.next+1, 0
}

func (c *blockCursor) size() int { return int(c.text.parts[c.next-1].elements) }

func (c *blockCursor) more() bool { return c.next < c.ends[len(c.ends)-1] }

func (c *blockCursor) name() (string, *flaw) {
	name := c.strings.keep(c.text.textOf(c.next))
	c.latest, c.next, c.known = c.next, c.next+1, 0
	if kind := plainKind(name); kind != String {
		return "", badName(kind, name)
	}
	return name, nil
}

func (c *blockCursor) nameIn(known map[string]int) (int, bool) {
	value, found := known[string(c.text.textOf(c.next))]
	if found {
		c.latest, c.next, c.known = c.next, c.next+1, 0
	}
	return value, found
}

func (c *blockCursor) namePosition() diag.Position { return blockNode{c.text, c.latest}.position() }

func (c *blockCursor) leave() { c.ends = c.ends[:len(c.ends)-1] }

func (c *blockCursor) capture() node {
	n := blockNode{c.text, c.next}
	c.skip()
	return n
}

func (c *blockCursor) skip() { c.next, c.known = c.next+int(c.text.parts[c.next].parts), 0 }
