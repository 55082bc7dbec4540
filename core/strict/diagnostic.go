package strict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Position is a place in an input file. Line and Column count from 1; a zero
// Line means that the whole file is meant.
type Position struct {
	File   string
	Line   int
	Column int
}

// String returns file:line:column, or only the file where the line is zero.
func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Diagnostic is one complaint about the input: an error or a warning.
type Diagnostic struct {
	Pos Position
	// Path is the field's path in its document, such as
	// spec.to[0].targetRef.kind; empty for a whole document or file.
	Path string
	What string
	// Hint tells what to do; empty where there is nothing useful to say.
	Hint string
}

// Error returns file:line:column: path: what; hint, leaving out empty parts.
func (d Diagnostic) Error() string {
	var b strings.Builder
	b.WriteString(d.Pos.String())
	if d.Path != "" {
		b.WriteString(": " + d.Path)
	}
	b.WriteString(": " + d.Message())
	return b.String()
}

// Message returns what and hint without the place.
func (d Diagnostic) Message() string {
	if d.Hint == "" {
		return d.What
	}
	return d.What + "; " + d.Hint
}

// Errors is every error of a run, sorted by place. It is never empty when it
// is returned as an error.
type Errors []Diagnostic

// Error returns one line per diagnostic.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, d := range e {
		lines[i] = d.Error()
	}
	return strings.Join(lines, "\n")
}

// Sink collects errors. The zero Sink is ready; it is not safe for
// concurrent use, parallel decoders each have one and [Sink.Join] them.
type Sink struct {
	errors []Diagnostic
}

// Error adds an error.
func (s *Sink) Error(d Diagnostic) { s.errors = append(s.errors, d) }

// mark is the number of errors so far, to tell later whether there are more.
func (s *Sink) mark() int { return len(s.errors) }

// Failed reports whether there is any error.
func (s *Sink) Failed() bool { return len(s.errors) > 0 }

// Join adds everything that o collected.
func (s *Sink) Join(o *Sink) { s.errors = append(s.errors, o.errors...) }

// Err returns nil, or all errors, sorted, as [Errors].
func (s *Sink) Err() error {
	if len(s.errors) == 0 {
		return nil
	}
	return Errors(Sorted(s.errors))
}

// Sorted returns a copy of ds ordered by file, line, column, path and text,
// each diagnostic once.
func Sorted(ds []Diagnostic) []Diagnostic {
	out := slices.Clone(ds)
	slices.SortFunc(out, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(a.Pos.File, b.Pos.File),
			cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Column, b.Pos.Column),
			cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.What, b.What),
			cmp.Compare(a.Hint, b.Hint),
		)
	})
	return slices.Compact(out)
}
