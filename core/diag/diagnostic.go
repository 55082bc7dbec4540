package diag

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Position is a position in an input. Line and Column start at 1. A zero Line
// means the whole file, or a value that was made in Go.
type Position struct {
	File   string
	Line   int
	Column int
}

// String returns file:line:column, or only the file if the line is zero.
func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// After reports whether the position is in a later line than o, or further right in the same
// line. Both are in one file.
func (p Position) After(o Position) bool {
	return p.Line > o.Line || p.Line == o.Line && p.Column > o.Column
}

// Diagnostic is one error or warning about an input.
type Diagnostic struct {
	Code Code
	Pos  Position
	// Path is the field's path in its document, such as
	// spec.to[0].targetRef.kind; empty for a whole document or file.
	Path string
	What string
	// Hint suggests what to do; it may be empty.
	Hint string
	// Cause is equal for findings of a code that have one cause, which `check` counts as one;
	// it may be empty.
	Cause string
	// Serve reports that the finding is about what a data plane of this program does not do,
	// and not about the mesh (SPEC 13.5).
	Serve bool
}

// Error returns "file:line:column: path: what; hint" without the empty parts, in
// one line.
func (d Diagnostic) Error() string {
	parts := slices.DeleteFunc([]string{d.Pos.String(), d.Path, d.Message()}, func(part string) bool { return part == "" })
	return OneLine(strings.Join(parts, ": "))
}

// MarshalJSON returns {"code", "file", "line", "column", "path", "message", "class"} (SPEC
// 13.5).
func (d Diagnostic) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Code    Code   `json:"code"`
		File    string `json:"file"`
		Line    int    `json:"line"`
		Column  int    `json:"column"`
		Path    string `json:"path"`
		Message string `json:"message"`
		Class   Class  `json:"class"`
	}{d.Code, d.Pos.File, d.Pos.Line, d.Pos.Column, d.Path, d.Message(), d.Code.Class()})
}

// Message returns "what; hint" without position and path.
func (d Diagnostic) Message() string { return WithHint(d.What, d.Hint) }

// WithHint returns "what; hint", or what alone if there is no hint.
func WithHint(what, hint string) string {
	if hint == "" {
		return what
	}
	return what + "; " + hint
}

// Line returns the text of Error with the code at its end, in brackets.
func (d Diagnostic) Line() string { return d.Error() + " [" + d.Code.String() + "]" }

// positions matches the parts of messages that name other positions.
var positions = regexp.MustCompile(`(:\d+:\d+|\bline \d+)`)

// Key returns a text that is equal for findings that differ in their positions only.
func (d Diagnostic) Key() string {
	return strings.Join([]string{d.Code.String(), d.Path, positions.ReplaceAllString(d.What, "")}, "\x00")
}

// Added returns the findings of after that before lacks, by their keys: of equal ones as
// many as there are more.
func Added(before, after []Diagnostic) []Diagnostic {
	known := map[string]int{}
	for _, d := range before {
		known[d.Key()]++
	}
	return slices.DeleteFunc(Sorted(after), func(d Diagnostic) bool {
		known[d.Key()]--
		return known[d.Key()] >= 0
	})
}

// Errors contains all errors of a run, sorted. It is never empty if it is returned
// as an error.
type Errors []Diagnostic

// Error returns one line per diagnostic.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, d := range e {
		lines[i] = d.Error()
	}
	return strings.Join(lines, "\n")
}

// Sink collects errors and warnings. The zero Sink is ready to use. It is not
// safe for concurrent use: parallel decoders have one each, and [Sink.Join]
// combines them.
type Sink struct {
	errors   []Diagnostic
	warnings []Diagnostic
	// depending are findings that are neither until it is known how documents are read.
	depending []Depending
}

// Error adds an error.
func (s *Sink) Error(d Diagnostic) { s.errors = append(s.errors, d) }

// Warn adds a warning. Warnings do not make a run fail, and [Sink.Mark] and
// [Sink.Check] ignore them.
func (s *Sink) Warn(d Diagnostic) { s.warnings = append(s.warnings, d) }

// Warnings returns all warnings, sorted.
func (s *Sink) Warnings() []Diagnostic { return Sorted(s.warnings) }

// Mark returns the number of errors so far. The caller can compare it with a later
// result to determine whether there are more.
func (s *Sink) Mark() int { return len(s.errors) }

// Cut removes the errors since a [Sink.Mark], and returns them in their order.
func (s *Sink) Cut(mark int) []Diagnostic {
	errors := slices.Clone(s.errors[mark:])
	s.errors = s.errors[:mark]
	return errors
}

// Counts returns the numbers of errors, of warnings and of findings that depend on the way to
// read so far, for [Sink.Name].
func (s *Sink) Counts() [3]int { return [3]int{len(s.errors), len(s.warnings), len(s.depending)} }

// Name appends the name of a resource, in brackets, to what each diagnostic since the
// [Sink.Counts] says; "" appends nothing.
func (s *Sink) Name(since [3]int, text string) {
	if text == "" {
		return
	}
	s.each(since, func(d *Diagnostic) { d.What += " (" + OneLine(Clip(text, maxText)) + ")" })
}

// each calls do for each diagnostic since the [Sink.Counts].
func (s *Sink) each(since [3]int, do func(*Diagnostic)) {
	for i := since[0]; i < len(s.errors); i++ {
		do(&s.errors[i])
	}
	for i := since[1]; i < len(s.warnings); i++ {
		do(&s.warnings[i])
	}
	for i := since[2]; i < len(s.depending); i++ {
		do(&s.depending[i].Diagnostic)
	}
}

// Failed reports whether there is any error.
func (s *Sink) Failed() bool { return len(s.errors) > 0 }

// Join adds the diagnostics that o has collected.
func (s *Sink) Join(o *Sink) {
	s.errors = append(s.errors, o.errors...)
	s.warnings = append(s.warnings, o.warnings...)
	s.depending = append(s.depending, o.depending...)
}

// Err returns all errors, sorted, as [Errors], or nil if there are none.
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
	slices.SortFunc(out, compare)
	return slices.Compact(out)
}

func compare(a, b Diagnostic) int {
	return cmp.Or(
		cmp.Compare(a.Pos.File, b.Pos.File),
		cmp.Compare(a.Pos.Line, b.Pos.Line),
		cmp.Compare(a.Pos.Column, b.Pos.Column),
		cmp.Compare(a.Path, b.Path),
		cmp.Compare(a.What, b.What),
		cmp.Compare(a.Hint, b.Hint),
		cmp.Compare(a.Code, b.Code),
	)
}
