package diag

import (
	"fmt"
	"strconv"
	"strings"
)

// At is a place in an input: the path from the root to a value. The input is a
// document of a file or a Go value; the same code checks both. An At contains
// no part of the value.
//
// A Validate method may use its At only until it returns.
type At struct {
	input  *input
	parent *At // nil for the root
	step   Step
	name   bool                   // the place is the name of the field, not its value
	probe  bool                   // see Prober
	moving func(to []Step) []Step // instead of the step; see Moving
	in     Reading                // the ways in which findings hold; 0: all
}

// input is shared by the places of one input.
type input struct {
	source Source
	sink   *Sink
	in     Reading // of a Prober
}

// Source finds the values of one input.
type Source interface {
	// Locate returns the position of the value at the end of a path. If name is set,
	// it returns the position of the field's name instead. If there is no such value,
	// it returns the position of the nearest enclosing value.
	Locate(path []Step, name bool) Position
}

// Step leads from a value to a part of it.
type Step struct {
	Field string // the name of a field, if Index is IsField
	Index int    // the index of a list's element, or IsField
}

// IsField is the Index of a [Step] to a field.
const IsField = -1

// GoValue is the [Source] of a value that was made in Go. It is the name of the
// resource that contains the value, and replaces the file name in messages.
type GoValue string

// Locate returns the name: a Go value has no lines.
func (v GoValue) Locate([]Step, bool) Position { return Position{File: string(v)} }

// Root returns the place of an input's outermost value. Errors and warnings
// are added to sink.
func Root(source Source, sink *Sink) *At { return &At{input: &input{source: source, sink: sink}} }

// Moving returns a place whose path below a is read each time it is used: appendSteps appends
// the steps of the current path to a slice. So a decoder reuses one place for all values that
// it validates.
func (a *At) Moving(appendSteps func(to []Step) []Step) *At {
	if a.probe {
		return a
	}
	return &At{input: a.input, parent: a, moving: appendSteps, in: a.in}
}

// Sink returns the sink of the place.
func (a *At) Sink() *Sink { return a.input.sink }

// IsRoot reports whether the place is the outermost value of its input.
func (a *At) IsRoot() bool { return len(a.steps(0)) == 0 }

// In returns the place with the same path in another source of the same input.
// Errors and warnings are added to sink.
func (a *At) In(source Source, sink *Sink) *At {
	if a.parent == nil {
		return Root(source, sink)
	}
	parent := a.parent.In(source, sink)
	copied := *a
	copied.parent, copied.input = parent, parent.input
	return &copied
}

// Field returns the place of the value of a field. The field may be absent.
func (a *At) Field(name string) *At {
	if a.probe {
		return a
	}
	return &At{input: a.input, parent: a, step: Step{name, IsField}, in: a.in}
}

// Name returns the place of the name of a field.
func (a *At) Name(field string) *At {
	name := a.Field(field)
	name.name = !a.probe
	return name
}

// Index returns the place of element i of a list. The element may be absent.
func (a *At) Index(i int) *At {
	if a.probe {
		return a
	}
	return &At{input: a.input, parent: a, step: Step{Index: i}, in: a.in}
}

// Pos returns the position of the value or, if it is absent, of the nearest
// enclosing value.
func (a *At) Pos() Position {
	if a.probe {
		return Position{}
	}
	return a.input.source.Locate(a.steps(0), a.name)
}

// steps returns the path from the root, with room for more steps.
func (a *At) steps(more int) []Step {
	if a.parent == nil {
		return make([]Step, 0, more)
	}
	if a.moving != nil {
		return a.moving(a.parent.steps(more))
	}
	return append(a.parent.steps(more+1), a.step)
}

// Path returns the path from the root, such as spec.to[0].default. It is empty
// for the root.
func (a *At) Path() string {
	var b strings.Builder
	for _, step := range a.steps(0) {
		key := step.Field
		switch {
		case step.Index != IsField:
			b.WriteString("[" + strconv.Itoa(step.Index) + "]")
		case key == "" || strings.ContainsAny(key, `.[]" `) || strings.ContainsFunc(key, unprintable):
			b.WriteString("[" + strconv.Quote(Clip(key, 100)) + "]")
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(Clip(key, 100))
		}
	}
	return b.String()
}

// Errorf reports an error at the place. The hint may be empty.
func (a *At) Errorf(code Code, hint, format string, args ...any) {
	a.ErrorfAt(code, a.Pos(), hint, format, args...)
}

// ErrorfAt reports an error with the path of the place and another position.
func (a *At) ErrorfAt(code Code, pos Position, hint, format string, args ...any) {
	d := a.diagnostic(code, pos, hint, format, args)
	if a.in == 0 || a.probe {
		a.input.sink.Error(d)
		return
	}
	a.input.sink.Depend(Depending{Diagnostic: d, In: a.in})
}

// Warnf reports a warning at the place. The hint may be empty.
func (a *At) Warnf(code Code, hint, format string, args ...any) {
	d := a.diagnostic(code, a.Pos(), hint, format, args)
	switch {
	case a.in == 0:
		a.input.sink.Warn(d)
	case a.probe:
		if a.input.in == 0 {
			a.input.sink.Error(d) // the validation is needed
		}
	default:
		a.input.sink.Depend(Depending{Diagnostic: d, In: a.in, Warning: true})
	}
}

// maxText is the maximum number of bytes of a message, and of a hint; longer
// texts are cut.
const maxText = 500

func (a *At) diagnostic(code Code, pos Position, hint, format string, args []any) Diagnostic {
	if a.probe {
		return Diagnostic{}
	}
	return Diagnostic{
		Code: code, Pos: pos, Path: a.Path(),
		What: OneLine(Clip(fmt.Sprintf(format, args...), maxText)), Hint: OneLine(Clip(hint, maxText)),
	}
}
