package migrate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/resource"
)

// tree is a mapping of a document.
type tree = map[string]any

// document is a document as it is written, which may be edited.
type document struct {
	meta   *resource.Meta
	fields tree
	order  []string // of the fields
	edits  []string // what was rewritten: paths
	// moved is a new document with a part of this one; nil if there is none.
	moved *document
}

func newDocument(meta *resource.Meta, source json.RawMessage) (*document, error) {
	d := &document{meta: meta}
	decoder := json.NewDecoder(bytes.NewReader(source))
	decoder.UseNumber()
	if err := decoder.Decode(&d.fields); err != nil {
		return nil, fmt.Errorf("%s: %w", meta.ID, err)
	}
	// The fields of a document are in their order; see [resource.Set.Sources].
	tokens := jsontext.NewDecoder(bytes.NewReader(source), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for _, err := tokens.ReadToken(); err == nil && tokens.PeekKind() == '"'; err = tokens.SkipValue() {
		name, _ := tokens.ReadToken() // it is valid
		d.order = append(d.order, name.String())
	}
	return d, nil
}

// universal reports whether the document has the form that users write outside of
// Kubernetes.
func (d *document) universal() bool { return d.fields["type"] != nil }

// spec returns the spec, or the document if its fields are at the top.
func (d *document) spec() tree {
	if spec, ok := d.fields["spec"].(tree); ok {
		return spec
	}
	return d.fields
}

// labels returns the mapping of labels, which it adds if there is none.
func (d *document) labels() tree {
	parent := d.fields
	if !d.universal() {
		parent = added(parent, "metadata")
	}
	return added(parent, "labels")
}

// added returns a mapping in another one, which it adds if there is none.
func added(parent tree, key string) tree {
	inner := mapping(parent, key)
	if inner == nil {
		inner = tree{}
		parent[key] = inner
	}
	return inner
}

// edited records that a field was rewritten.
func (d *document) edited(path string) {
	if !slices.Contains(d.edits, path) {
		d.edits = append(d.edits, path)
	}
}

// MarshalJSON prints the document with its fields in their order, and new ones in front
// of the spec.
func (d *document) MarshalJSON() ([]byte, error) {
	order := slices.Clone(d.order)
	for _, name := range []string{"labels", "metadata"} {
		if d.fields[name] != nil && !slices.Contains(order, name) {
			at := slices.IndexFunc(order, func(field string) bool { return field == "spec" || field == "networking" })
			order = slices.Insert(order, max(at, 0), name)
		}
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range order {
		if i > 0 {
			b.WriteByte(',')
		}
		for n, part := range []any{name, d.fields[name]} {
			text, err := conf.Marshal(part)
			if err != nil {
				return nil, err
			}
			b.Write(text)
			if n == 0 {
				b.WriteByte(':')
			}
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// fieldAt follows keys and indexes through a tree; nil where there is no such value.
func fieldAt(value any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			fields, _ := value.(tree)
			value = fields[step]
		case int:
			elems, _ := value.([]any)
			if step >= len(elems) {
				return nil
			}
			value = elems[step]
		}
	}
	return value
}

// list returns the list at a path; empty if there is none.
func list(value any, path ...any) []any {
	elems, _ := fieldAt(value, path...).([]any)
	return elems
}

// mapping returns the mapping at a path; nil if there is none.
func mapping(value any, path ...any) tree {
	fields, _ := fieldAt(value, path...).(tree)
	return fields
}

// text returns the text at a path; empty if there is none.
func text(value any, path ...any) string {
	s, _ := fieldAt(value, path...).(string)
	return s
}
