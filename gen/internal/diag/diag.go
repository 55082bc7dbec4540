package diag

import (
	"cmp"
	"fmt"
	"go/token"
	"slices"
)

// Diagnostic is one error in the source of a package.
type Diagnostic struct {
	Pos  token.Position
	Path string // Type.Field.Field; "" for an error that is not about a field
	What string
	Hint string // what to do; may be empty
}

// String prints file:line:column: path: what; hint.
func (d Diagnostic) String() string {
	s := d.What
	if d.Path != "" {
		s = d.Path + ": " + s
	}
	if d.Hint != "" {
		s += "; " + d.Hint
	}
	if d.Pos.Filename == "" {
		return s
	}
	return fmt.Sprintf("%s:%d:%d: %s", d.Pos.Filename, d.Pos.Line, d.Pos.Column, s)
}

// List collects the diagnostics of a run.
type List struct {
	all []Diagnostic
}

// Add appends d.
func (l *List) Add(d Diagnostic) { l.all = append(l.all, d) }

// Len returns the number of diagnostics.
func (l *List) Len() int { return len(l.all) }

// Sorted returns the diagnostics by file, line and column, with only the first one
// that was added at each position: a wrong field often has several errors, and the most
// specific one is added first.
func (l *List) Sorted() []Diagnostic {
	sorted := slices.Clone(l.all)
	slices.SortStableFunc(sorted, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(a.Pos.Filename, b.Pos.Filename),
			cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Column, b.Pos.Column),
		)
	})
	return slices.CompactFunc(sorted, func(a, b Diagnostic) bool {
		return a.Pos == b.Pos && (a.Pos.IsValid() || a == b)
	})
}
