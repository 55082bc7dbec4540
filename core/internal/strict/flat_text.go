package strict

import (
	"math"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/meshmatch/meshmatch/core/diag"
)

// flatText is a document in JSON, or in YAML of the usual forms, with the offsets of its
// values. There is no tree: the parts are in one slice, in the order of the text. The
// outermost value is first, and its contents follow. The value of a field follows its
// name.
type flatText struct {
	file  string
	data  []byte
	lines *lines // of data
	parts []part
	// children contains the children of mappings and lists that were searched
	// and have more than smallMapping children.
	children map[int]*children
	// latest is the line and column of latestOffset, where the last search ended; zero before
	// the first search.
	latest       mark
	latestOffset int
}

// part is a value, or the name of a field.
type part struct {
	begin, end int32 // offsets in the text, without quotes; end equals begin for a mapping in YAML and for a list in flow style
	parts      int32 // of the value, itself included
	kind       Kind
	quoted     bool // a scalar in quotes; begin is after the first one
	escaped    bool // the text has JSON escapes
	literal    bool // a literal text of YAML; begin is its header
}

func (p *part) isContainer() bool { return p.kind == Mapping || p.kind == List }

// maxFlat is the maximum length of a text with parts.
const maxFlat = math.MaxInt32

// locate returns the mark of an offset. The offsets of resources and of their items increase,
// so the next one is usually a little after the latest.
func (t *flatText) locate(offset int) mark {
	if between := offset - t.latestOffset; t.latest.line > 0 && 0 <= between && between < markEvery {
		t.latest = t.latest.after(t.data, t.latestOffset, offset)
	} else {
		t.latest = t.lines.locate(t.data, offset)
	}
	t.latestOffset = offset
	return t.latest
}

// textOf returns the text of a scalar or of a name.
func (t *flatText) textOf(i int) []byte {
	p := &t.parts[i]
	if p.escaped {
		text, _ := jsontext.AppendUnquote(nil, t.data[p.begin-1:p.end+1]) // the syntax was checked
		return text
	}
	if p.literal {
		return t.literalText(p)
	}
	return t.data[p.begin:p.end]
}

// within yields the indexes of the elements of a list or the names of a mapping.
func (t *flatText) within(container int) func(yield func(i int) bool) {
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

// children are the elements of a list, or the first name of each field of a mapping.
type children struct {
	parts  []int
	byName map[string]int
}

// childrenOf returns the children of a mapping or list. They are found once, so that
// many look-ups take linear time.
func (t *flatText) childrenOf(container int) *children {
	if known := t.children[container]; known != nil {
		return known
	}
	found := &children{byName: map[string]int{}}
	for i := range t.within(container) {
		if t.parts[container].kind == List {
			found.parts = append(found.parts, i)
			continue
		}
		name := string(t.textOf(i))
		if _, twice := found.byName[name]; !twice && t.parts[i].kind == String {
			found.byName[name] = i
		}
	}
	if t.children == nil {
		t.children = map[int]*children{}
	}
	t.children[container] = found
	return found
}

// flatNode is a value of a [flatText], or the name of a field.
type flatNode struct {
	text *flatText
	i    int // in text.parts
}

func (n *flatNode) part() *part { return &n.text.parts[n.i] }

func (n *flatNode) position() diag.Position {
	p := n.part()
	offset := p.begin
	if p.quoted {
		offset-- // the quote
	}
	at := n.text.locate(int(offset))
	return diag.Position{File: n.text.file, Line: at.line, Column: at.column}
}

func (n *flatNode) kind() Kind { return n.part().kind }

func (n *flatNode) scalar(strings *localStrings) string {
	if n.part().isContainer() {
		return ""
	}
	return keep(strings, n.text.textOf(n.i))
}

func (n *flatNode) cursor(strings *localStrings) cursor {
	return &flatCursor{text: n.text, strings: strings, next: n.i}
}

func (n *flatNode) in(doc *Document) node {
	if root, ok := doc.root.(*flatNode); ok {
		return &flatNode{root.text, n.i}
	}
	// Another goroutine may be using the children of the text.
	text := n.text
	return &flatNode{&flatText{file: text.file, data: text.data, lines: text.lines, parts: text.parts}, n.i}
}

func (n *flatNode) find(name string) int {
	if n.part().kind != Mapping {
		return -1
	}
	parts := n.text.parts
	end := n.i + int(n.part().parts)
	steps := 0
	for i := n.i + 1; i < end; i += 1 + int(parts[i+1].parts) {
		if parts[i].kind == String && string(n.text.textOf(i)) == name {
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

func (n *flatNode) name(i int) node { return &flatNode{n.text, i} }

func (n *flatNode) value(i int) node { return &flatNode{n.text, i + 1} }

func (n *flatNode) names(strings *localStrings, yield func(string) bool) {
	if n.part().kind != Mapping {
		return
	}
	for i := range n.text.within(n.i) {
		if n.text.parts[i].kind == String && !yield(keep(strings, n.text.textOf(i))) {
			return
		}
	}
}

func (n *flatNode) element(i int) node {
	if n.part().kind != List {
		return nil
	}
	elements := n.text.childrenOf(n.i).parts
	if i >= len(elements) {
		return nil
	}
	return &flatNode{n.text, elements[i]}
}
