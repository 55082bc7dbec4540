package resource

import (
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
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
	for m := range s.metas {
		if m.Pos.Line > 0 {
			all = append(all, m.Pos)
		}
	}
	return all
}

// NameOnStdin returns the kind and the name of the resource at a position of standard input,
// whose lines a reader of a finding no longer has; "" for a position in a file.
func (s *Set) NameOnStdin(pos diag.Position) string {
	if pos.File != stdinName {
		return ""
	}
	var at *Meta
	for m := range s.metas {
		if m.Pos.File == stdinName && !m.Pos.After(pos) && (at == nil || m.Pos.After(at.Pos)) {
			at = m
		}
	}
	if at == nil {
		return ""
	}
	return at.Kind + " " + at.Qualified()
}

// metas calls yield with the identity of each resource of the set.
func (s *Set) metas(yield func(*Meta) bool) {
	_ = eachMeta(s.Meshes, yield) && eachMeta(s.Dataplanes, yield) && eachMeta(s.Policies, yield) && eachMeta(s.Objects, yield) && eachMeta(s.Documents, yield)
}

func eachMeta[T interface{ Identity() *Meta }](list []T, yield func(*Meta) bool) bool {
	for _, r := range list {
		if !yield(r.Identity()) {
			return false
		}
	}
	return true
}
