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
	part int // of the text of the document
}

// At returns the place of the value, for errors.
func (v *Value) At() *diag.At { return &v.at }

// Pos returns the position of the value. It costs less than the position of
// its place.
func (v *Value) Pos() diag.Position { return v.doc.text.position(v.part) }

// Document returns the document of the value.
func (v *Value) Document() *Document { return v.doc }

// In returns the same value in a copy of its document.
func (v *Value) In(doc *Document) *Value {
	return doc.value(*v.at.In(doc, doc.sink), v.part)
}

// Source returns the text of a mapping or list in JSON, or of a list in YAML's block style;
// values with equal texts are equal. It returns nil for all other values. The text is valid as
// long as the document.
func (v *Value) Source() []byte {
	p, data := &v.doc.text.parts[v.part], v.doc.text.data
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
func (v *Value) Kind() Kind { return v.doc.text.parts[v.part].kind }

// IsNull reports whether the value is a null.
func (v *Value) IsNull() bool { return v.Kind() == Null }

// Text returns the text of a scalar without quotes. It returns "" for other
// values and for nil, the value of an absent field.
func (v *Value) Text() string {
	if v == nil {
		return ""
	}
	return v.doc.text.scalar(v.part, v.doc.reader.strings)
}

// FieldText returns the [Value.Text] of a mapping's field, or "" if there is no such field.
func (v *Value) FieldText(name string) string {
	i := v.doc.text.find(v.part, name)
	if i < 0 {
		return ""
	}
	return v.doc.text.scalar(i+1, v.doc.reader.strings)
}

// Names returns the names of the fields of a mapping in the order of the
// document, without names that are not strings.
func (v *Value) Names() []string { return slices.Collect(v.EachName) }

// EachName yields the names of [Value.Names].
func (v *Value) EachName(yield func(string) bool) {
	text := &v.doc.text
	if v.Kind() != Mapping {
		return
	}
	for i := range text.within(v.part) {
		if text.parts[i].kind == String && !yield(text.scalar(i, v.doc.reader.strings)) {
			return
		}
	}
}

// Has reports whether the value is a mapping with the field.
func (v *Value) Has(name string) bool { return v.doc.text.find(v.part, name) >= 0 }

// Element returns an element of a list, or nil.
func (v *Value) Element(i int) *Value {
	part := v.doc.text.element(v.part, i)
	if part < 0 {
		return nil
	}
	return v.doc.value(*v.at.Index(i), part)
}

// Field returns the value of a mapping's field, or nil.
func (v *Value) Field(name string) *Value {
	i := v.doc.text.find(v.part, name)
	if i < 0 {
		return nil
	}
	return v.doc.value(*v.at.Field(name), i+1)
}
