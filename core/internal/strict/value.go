package strict

import (
	"bytes"
	"slices"

	"github.com/meshmatch/meshmatch/core/diag"
)

// Value is an undecoded value of a document. It is valid as long as its
// document, and keeps the text of the document in memory.
//
//confgen:openapi {"x-kubernetes-preserve-unknown-fields": true}
type Value struct {
	doc  *Document
	at   diag.At
	node node
	flat flatNode // the node, if it is in a [flatText]: so a value is one allocation
}

func newValue(doc *Document, at diag.At, n node) *Value {
	if flat, ok := n.(*flatNode); ok {
		return newFlatValue(doc, at, *flat)
	}
	v := doc.newValue()
	*v = Value{doc: doc, at: at, node: n}
	return v
}

func newFlatValue(doc *Document, at diag.At, n flatNode) *Value {
	v := doc.newValue()
	*v = Value{doc: doc, at: at, flat: n}
	v.node = &v.flat
	return v
}

// At returns the place of the value, for errors.
func (v *Value) At() *diag.At { return &v.at }

// Pos returns the position of the value. It costs less than the position of
// its place.
func (v *Value) Pos() diag.Position { return v.node.position() }

// Document returns the document of the value.
func (v *Value) Document() *Document { return v.doc }

// In returns the same value in a copy of its document.
func (v *Value) In(doc *Document) *Value {
	return newValue(doc, *v.at.In(doc, doc.sink), v.node.in(doc))
}

// Source returns the text of a mapping or list in JSON, or of a list in YAML's block style;
// values with equal texts are equal. It returns nil for all other values. The text is valid as
// long as the document.
func (v *Value) Source() []byte {
	if v.flat.text == nil {
		return nil
	}
	p, data := v.flat.part(), v.flat.text.data
	begin := int(p.begin)
	if !p.isContainer() || p.begin == p.end {
		return nil
	}
	if data[begin] == '-' {
		begin = len(bytes.TrimRight(data[:begin], " ")) // the indentation of the first element has a meaning
	}
	return data[begin:p.end]
}

// Kind returns the kind of the value.
func (v *Value) Kind() Kind { return v.node.kind() }

// IsNull reports whether the value is a null.
func (v *Value) IsNull() bool { return v.Kind() == Null }

// Text returns the text of a scalar without quotes. It returns "" for other
// values and for nil, the value of an absent field.
func (v *Value) Text() string {
	if v == nil {
		return ""
	}
	return v.node.scalar(v.doc.reader.strings)
}

// FieldText returns the [Value.Text] of a mapping's field, or "" if there is no such field.
func (v *Value) FieldText(name string) string {
	i := v.node.find(name)
	switch {
	case i < 0:
		return ""
	case v.flat.text != nil:
		value := flatNode{v.flat.text, i + 1}
		return value.scalar(v.doc.reader.strings)
	}
	return v.node.value(i).scalar(v.doc.reader.strings)
}

// Names returns the names of the fields of a mapping in the order of the
// document, without names that are not strings.
func (v *Value) Names() []string { return slices.Collect(v.EachName) }

// EachName yields the names of [Value.Names].
func (v *Value) EachName(yield func(string) bool) { v.node.names(v.doc.reader.strings, yield) }

// Has reports whether the value is a mapping with the field.
func (v *Value) Has(name string) bool { return v.node.find(name) >= 0 }

// Element returns an element of a list, or nil.
func (v *Value) Element(i int) *Value {
	n := v.node.element(i)
	if n == nil {
		return nil
	}
	return newValue(v.doc, *v.at.Index(i), n)
}

// Field returns the value of a mapping's field, or nil.
func (v *Value) Field(name string) *Value {
	i := v.node.find(name)
	switch {
	case i < 0:
		return nil
	case v.flat.text != nil:
		return newFlatValue(v.doc, *v.at.Field(name), flatNode{v.flat.text, i + 1})
	}
	return newValue(v.doc, *v.at.Field(name), v.node.value(i))
}
