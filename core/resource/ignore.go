package resource

import (
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/strict"
)

// ignoreAnnotation ignores findings of a resource; its value is a code and a reason (SPEC
// 13.5). In the universal spelling, which has no annotations, it is a label.
const ignoreAnnotation = "meshmatch.io/ignore"

// ignores keeps the ignores of a document's annotations.
func (d *decoder) ignores(in *strict.Value) {
	fields := in.Field("labels")
	if metadata := in.Field("metadata"); metadata != nil {
		fields = metadata.Field("annotations")
	}
	if fields == nil {
		return
	}
	if value := fields.Field(ignoreAnnotation); value != nil && value.Kind() == strict.String {
		d.out.Ignores = append(d.out.Ignores, diag.IgnoreAnnotation(value.At(), value.Text(), in.At().Pos())...)
	}
}

// Positions returns the positions of all resources of the set that have a
// position.
func (s *Set) Positions() []diag.Position {
	var all []diag.Position
	add := func(m *Meta) {
		if m.Pos.Line > 0 {
			all = append(all, m.Pos)
		}
	}
	for _, m := range s.Meshes {
		add(&m.Meta)
	}
	for _, d := range s.Dataplanes {
		add(&d.Meta)
	}
	for _, p := range s.Policies {
		add(&p.Meta)
	}
	for _, i := range s.Identities {
		add(&i.Meta)
	}
	for _, t := range s.Trusts {
		add(&t.Meta)
	}
	for _, o := range s.Objects {
		add(o.Identity())
	}
	for _, d := range s.Documents {
		add(&d.Meta)
	}
	return all
}
