package strict

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/diag"
)

// jsonNode is a value of a JSON text that has no syntax errors. There is no
// tree of the values: the parts of a node are found when one is asked for.
type jsonNode struct {
	text    *jsonText
	strings *localStrings
	begin   int // offset in the text
	// containers are those of the document from the node on. The first one is
	// the node itself, unless the node is a scalar.
	containers []container
	found      bool // the parts are found
	isMapping  bool
	parts      []jsonPart
	byName     map[string]int // to the first part of the name, in large mappings
}

// jsonPart is a field, or an element without a name.
type jsonPart struct {
	name       string
	nameBegin  int
	begin      int
	containers []container
	node       *jsonNode // of the value, if it was asked for
}

// jsonText is what the nodes of a JSON text share. It is safe for concurrent use.
type jsonText struct {
	file string
	data []byte
	lines
}

func (n *jsonNode) position() diag.Position {
	line, column := n.text.locate(n.text.data, n.begin)
	return diag.Position{File: n.text.file, Line: line, Column: column}
}

func (n *jsonNode) cursor(doc *Document) cursor {
	c := n.open(doc.reader.strings)
	return &c
}

func (n *jsonNode) open(strings *localStrings) jsonCursor {
	return jsonCursor{text: n.text, strings: strings, offset: n.begin, containers: n.containers}
}

func (n *jsonNode) in(doc *Document) node {
	return &jsonNode{text: n.text, strings: doc.reader.strings, begin: n.begin, containers: n.containers}
}

func (n *jsonNode) has(name string) bool { return n.index(name) >= 0 }

func (n *jsonNode) field(name string) node {
	if i := n.index(name); i >= 0 {
		return n.part(i)
	}
	return nil
}

func (n *jsonNode) fieldName(name string) node {
	if i := n.index(name); i >= 0 {
		return &jsonNode{text: n.text, strings: n.strings, begin: n.parts[i].nameBegin}
	}
	return nil
}

// index returns the index of the first part of a mapping with the name, or -1.
func (n *jsonNode) index(name string) int {
	n.find()
	if !n.isMapping {
		return -1
	}
	if n.byName == nil {
		return slices.IndexFunc(n.parts, func(p jsonPart) bool { return p.name == name })
	}
	if i, found := n.byName[name]; found {
		return i
	}
	return -1
}

func (n *jsonNode) part(i int) *jsonNode {
	p := &n.parts[i]
	if p.node == nil {
		p.node = &jsonNode{text: n.text, strings: n.strings, begin: p.begin, containers: p.containers}
	}
	return p.node
}

func (n *jsonNode) names(yield func(string) bool) {
	n.find()
	for _, part := range n.parts {
		if !n.isMapping || !yield(part.name) {
			return
		}
	}
}

func (n *jsonNode) element(i int) node {
	n.find()
	if n.isMapping || i >= len(n.parts) {
		return nil
	}
	return n.part(i)
}

// find finds the parts of a mapping or list.
func (n *jsonNode) find() {
	if n.found {
		return
	}
	n.found = true
	c := n.open(n.strings)
	kind := c.kind()
	if kind != Mapping && kind != List {
		return
	}
	n.isMapping = kind == Mapping
	c.enter()
	n.parts = make([]jsonPart, 0, c.parts)
	for c.more() {
		var part jsonPart
		if n.isMapping {
			part.name, _ = c.name()
			part.nameBegin = c.nameBegin
		}
		part.containers = c.containers
		c.skip()
		part.begin = c.next.begin
		n.parts = append(n.parts, part)
	}
	if n.isMapping && len(n.parts) > smallMapping {
		n.byName = map[string]int{}
		for i := len(n.parts) - 1; i >= 0; i-- {
			n.byName[n.parts[i].name] = i
		}
	}
}
