package strict

import (
	"math"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/meshmatch/meshmatch/core/diag"
)

// flatText is a document with the offsets of its values. There is no tree: the parts are in
// one slice, in the order of the text. The outermost value is first, and its contents follow.
// The value of a field follows its name.
type flatText struct {
	content
	// children contains the children of mappings and lists that were searched
	// and have more than smallMapping children.
	children map[int]*children
	// latest is the line and column of latestOffset, where the last search ended; zero before
	// the first search.
	latest       mark
	latestOffset int
}

// content is the part of a flatText that is not changed while the document is in use.
type content struct {
	file  string
	data  []byte // the text, or the names and values of a document with marks
	lines *lines // of data; nil for a document with marks
	parts []part
	// marks are the positions of the parts of a document that the library of YAML parsed.
	// flaws are the errors in its names and in the tags of its values.
	marks []mark
	flaws map[int]*flaw
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

// position returns the position of a part.
func (t *flatText) position(i int) diag.Position {
	var at mark
	if p := &t.parts[i]; t.marks != nil {
		at = t.marks[i]
	} else if p.quoted {
		at = t.locate(int(p.begin - 1)) // of the quote
	} else {
		at = t.locate(int(p.begin))
	}
	return diag.Position{File: t.file, Line: at.line, Column: at.column}
}

// scalar returns the text of a scalar, and "" for other values.
func (t *flatText) scalar(i int, strings *localStrings) string {
	if t.parts[i].isContainer() {
		return ""
	}
	return keep(strings, t.textOf(i))
}

// find returns the first name of a field of a mapping, or -1. The value is the next part.
func (t *flatText) find(mapping int, name string) int {
	p := &t.parts[mapping]
	if p.kind != Mapping {
		return -1
	}
	end := mapping + int(p.parts)
	steps := 0
	for i := mapping + 1; i < end; i += 1 + int(t.parts[i+1].parts) {
		if t.parts[i].kind == String && string(t.textOf(i)) == name {
			return i
		}
		if steps++; steps > smallMapping {
			if i, found := t.childrenOf(mapping).byName[name]; found {
				return i
			}
			return -1
		}
	}
	return -1
}

// element returns an element of a list, or -1.
func (t *flatText) element(list, i int) int {
	if t.parts[list].kind != List {
		return -1
	}
	elements := t.childrenOf(list).parts
	if i >= len(elements) {
		return -1
	}
	return elements[i]
}
