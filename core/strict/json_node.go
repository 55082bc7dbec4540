package strict

import "github.com/meshmatch/meshmatch/core/diag"

// jsonNode is a value of a JSON text that has no syntax errors. There is no
// tree of the values: the parts of a node are found when the position of one is
// asked for.
type jsonNode struct {
	text       *jsonText
	begin, end int  // offsets in the text
	found      bool // the parts are found
	isMapping  bool
	parts      []jsonPart
	byName     map[string]int // to the first part of the name, in large mappings
}

// jsonPart is a field, or an element without a name.
type jsonPart struct {
	name       string
	nameBegin  int
	begin, end int
	node       *jsonNode // of the value, if it was asked for
}

// jsonText is what the nodes of a JSON text share.
type jsonText struct {
	file    string
	data    []byte
	strings *localStrings
	lines
}

func (n *jsonNode) position() diag.Position {
	line, column := n.text.locate(n.text.data, n.begin)
	return diag.Position{File: n.text.file, Line: line, Column: column}
}

func (n *jsonNode) cursor(doc *Document) cursor {
	return &jsonCursor{text: n.text, strings: doc.reader.strings, offset: n.begin}
}

func (n *jsonNode) field(name string) (key, value node) {
	n.find()
	if !n.isMapping {
		return nil, nil
	}
	for i := range n.parts {
		if i == smallMapping {
			break
		}
		if n.parts[i].name == name {
			return n.part(i)
		}
	}
	if i, found := n.byName[name]; found {
		return n.part(i)
	}
	return nil, nil
}

func (n *jsonNode) part(i int) (key, value node) {
	p := &n.parts[i]
	if p.node == nil {
		p.node = &jsonNode{text: n.text, begin: p.begin, end: p.end}
	}
	return &jsonNode{text: n.text, begin: p.nameBegin}, p.node
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
	_, value := n.part(i)
	return value
}

// find finds the parts of a mapping or list.
func (n *jsonNode) find() {
	if n.found {
		return
	}
	n.found = true
	c := jsonCursor{text: n.text, offset: n.begin, strings: n.text.strings}
	kind := c.kind()
	if kind != Mapping && kind != List {
		return
	}
	n.isMapping = kind == Mapping
	for c.enter(); c.more(); {
		var part jsonPart
		if n.isMapping {
			part.name, _ = c.name()
			part.nameBegin = c.nameBegin
		}
		c.skip()
		part.begin, part.end = c.next.begin, c.offset
		n.parts = append(n.parts, part)
	}
	if n.isMapping && len(n.parts) > smallMapping {
		n.byName = map[string]int{}
		for i := len(n.parts) - 1; i >= 0; i-- {
			n.byName[n.parts[i].name] = i
		}
	}
}
