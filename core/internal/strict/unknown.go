package strict

import (
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
)

// Unknown determines what an unknown field of a document is (SPEC 1.2). Where the document
// counts as written by a person, which depends on the semantics, it is an error.
type Unknown uint8

const (
	// UnknownFails: an error.
	UnknownFails Unknown = iota
	// UnknownWarns: a warning, in what a control plane of Kuma stored.
	UnknownWarns
	// UnknownDropped is UnknownWarns, but nothing for a field of the outermost value.
	UnknownDropped
	// UnknownLimits is UnknownFails, in a stored permission. The fields around its content are
	// read with UnknownDropped.
	UnknownLimits
)

// unknown reports a field that the struct does not declare.
func (d *decoder) unknown(name string, known *fields) {
	at := d.place().Name(name)
	hint := diag.DidYouMean(name, known.names)
	if d.doc.Unknown == UnknownFails || d.doc.Unknown == UnknownLimits {
		at.Errorf(diag.UnknownField, hint, "unknown field")
		return
	}
	at.If(diag.AsTargetRef).Errorf(diag.UnknownField, hint, "unknown field")
	if d.doc.Unknown == UnknownWarns || len(d.path) > 0 {
		at.If(diag.AsKuma).Warnf(diag.FieldNotKnown, "use a newer version of meshmatch if it matters", "this version of meshmatch does not know the field; it has no effect in these answers")
	}
}

// spelledInSnakeCase returns the index of the spelling that a name in snake_case means, or -1.
func (d *decoder) spelledInSnakeCase(name string, known *fields) int {
	if !d.doc.SnakeCase {
		return -1
	}
	return spellingOf(known, camelCase(name))
}

// camelCase returns the name in camel case of a field whose name is in snake_case.
func camelCase(name string) string {
	if !strings.Contains(name, "_") {
		return name
	}
	var b strings.Builder
	up := false
	for _, c := range []byte(name) {
		switch {
		case c == '_':
			up = true
			continue
		case up && 'a' <= c && c <= 'z':
			c -= 'a' - 'A'
		}
		up = false
		b.WriteByte(c)
	}
	return b.String()
}
