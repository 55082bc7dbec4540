package strict

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// At is a place in a document: a value, with the way to it from the root.
// It stays valid for as long as its document.
type At struct {
	doc    *Document
	node   *yaml.Node
	parent *At
	key    string // of a mapping's field
	index  int    // of a list's element, where key is empty
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
		case a.key == "":
			parts = append(parts, "["+strconv.Itoa(a.index)+"]")
		case strings.ContainsAny(a.key, ".[ "):
			parts = append(parts, "["+quote(clip(a.key, 100))+"]")
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
	a.doc.sink.Error(a.diagnostic(hint, format, args...))
}

// Warnf reports a warning at this place. The hint may be empty.
func (a *At) Warnf(hint, format string, args ...any) {
	a.doc.sink.Warn(a.diagnostic(hint, format, args...))
}

func (a *At) diagnostic(hint, format string, args ...any) Diagnostic {
	return Diagnostic{Pos: a.Pos(), Path: a.Path(), What: clip(fmt.Sprintf(format, args...), 500), Hint: clip(hint, 500)}
}

// Field returns the place of a mapping's field. Where the field is absent the
// place is the mapping's own, with the field in its path.
func (a *At) Field(name string) *At {
	child := &At{doc: a.doc, node: a.node, parent: a, key: name}
	if value := a.field(name); value != nil {
		child.node = value
	}
	return child
}

// Has reports whether the value is a mapping with the field.
func (a *At) Has(name string) bool { return a.field(name) != nil }

// field returns the first value of a mapping's field, or nil.
func (a *At) field(name string) *yaml.Node {
	node := resolve(a.node)
	if node.Kind != yaml.MappingNode {
		return nil
	}
	if i := a.doc.fieldIndex(node, name); i >= 0 {
		return node.Content[i+1]
	}
	return nil
}

// Text returns the value of a scalar, "" for anything else.
func (a *At) Text() string {
	if node := resolve(a.node); node.Kind == yaml.ScalarNode {
		return node.Value
	}
	return ""
}

// Index returns the place of a list's element i, or the list's own where it
// has none.
func (a *At) Index(i int) *At {
	node := resolve(a.node)
	child := &At{doc: a.doc, node: a.node, parent: a, index: i}
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

func resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}
