package strict

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// At is a place in a document: a value, with the way to it from the root.
// It stays valid for as long as its document.
type At struct {
	doc    *Document
	node   *yaml.Node
	parent *At
	key    string // of a mapping's field
	index  int    // of a list's element; noIndex for a field
}

const noIndex = -1

func (a *At) fieldAt(key string, value *yaml.Node) *At {
	return &At{doc: a.doc, node: value, parent: a, key: key, index: noIndex}
}

func (a *At) elementAt(i int, value *yaml.Node) *At {
	return &At{doc: a.doc, node: value, parent: a, index: i}
}

// Pos returns where the value stands in its file.
func (a *At) Pos() Position {
	return Position{File: a.doc.file, Line: a.node.Line, Column: a.node.Column}
}

// Path returns the way from the document's root, such as
// spec.to[0].default, and "" for the root.
func (a *At) Path() string {
	var parts []string
	for ; a.parent != nil; a = a.parent {
		switch {
		case a.index != noIndex:
			parts = append(parts, "["+strconv.Itoa(a.index)+"]")
		case a.key == "" || strings.ContainsAny(a.key, `.[]" `) || strings.ContainsFunc(a.key, unprintable):
			parts = append(parts, "["+strconv.Quote(clip(a.key, 100))+"]")
		default:
			parts = append(parts, "."+clip(a.key, 100))
		}
	}
	var b strings.Builder
	for i := len(parts) - 1; i >= 0; i-- {
		b.WriteString(parts[i])
	}
	return strings.TrimPrefix(b.String(), ".")
}

// Errorf reports an error at this place. The hint may be empty.
func (a *At) Errorf(hint, format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	a.doc.sink.Error(Diagnostic{Pos: a.Pos(), Path: a.Path(), What: oneLine(clip(what, 500)), Hint: oneLine(clip(hint, 500))})
}

// Field returns the place of a mapping's field. Where the field is absent the
// place is the mapping's own, with the field in its path.
func (a *At) Field(name string) *At {
	child := a.fieldAt(name, a.node)
	if value := a.field(name); value != nil {
		child.node = value
	}
	return child
}

// Name returns the place of the name of a mapping's field.
func (a *At) Name(field string) *At {
	place := a.Field(field)
	if node := a.Node(); node.Kind == yaml.MappingNode {
		if i := a.doc.fieldIndex(node, field); i >= 0 {
			place.node = node.Content[i]
		}
	}
	return place
}

// Has reports whether the value is a mapping with the field.
func (a *At) Has(name string) bool { return a.field(name) != nil }

// field returns the first value of a mapping's field, or nil.
func (a *At) field(name string) *yaml.Node {
	node := a.Node()
	if node.Kind != yaml.MappingNode {
		return nil
	}
	if i := a.doc.fieldIndex(node, name); i >= 0 {
		return node.Content[i+1]
	}
	return nil
}

// Node returns the value's node, which is no alias and must not be changed.
func (a *At) Node() *yaml.Node { return resolve(a.node) }

// Fields yields the fields of a mapping, and nothing for other values. Names
// that are no strings, and those that stand there twice, are reported and
// passed over.
func (a *At) Fields() iter.Seq2[string, *At] {
	return func(yield func(string, *At) bool) {
		node := a.Node()
		if node.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			if name, ok := fieldName(a, node, i); ok && !yield(name, a.fieldAt(name, node.Content[i+1])) {
				return
			}
		}
	}
}

// Elements yields the elements of a list, and nothing for other values.
func (a *At) Elements() iter.Seq2[int, *At] {
	return func(yield func(int, *At) bool) {
		node := a.Node()
		if node.Kind != yaml.SequenceNode {
			return
		}
		for i, element := range node.Content {
			if !yield(i, a.elementAt(i, element)) {
				return
			}
		}
	}
}

// Text returns the value of a scalar, "" for anything else.
func (a *At) Text() string {
	if node := a.Node(); node.Kind == yaml.ScalarNode {
		return node.Value
	}
	return ""
}

// Index returns the place of a list's element i, or the list's own where it
// has none.
func (a *At) Index(i int) *At {
	node := a.Node()
	child := a.elementAt(i, a.node)
	if node.Kind == yaml.SequenceNode && i < len(node.Content) {
		child.node = node.Content[i]
	}
	return child
}

// clip shortens what the input made too long for a message.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}

// oneLine writes what would break a line or change a terminal as escapes.
func oneLine(text string) string {
	if !strings.ContainsFunc(text, unprintable) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if unprintable(r) {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }

func resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}
