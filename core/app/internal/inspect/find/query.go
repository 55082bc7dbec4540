package find

import (
	"errors"
	"fmt"

	"github.com/meshmatch/meshmatch/core/diag"
)

// ErrUsage indicates that a question is incomplete or contradictory.
var ErrUsage = errors.New("wrong usage")

// ErrNotFound indicates that no resource or part of a resource has a name, or that
// several have it.
var ErrNotFound = errors.New("not found")

// A Field is the name of a field of a question. It is the name of a parameter of the
// HTTP API; the command line has a flag for it.
type Field string

// The fields that errors name.
const (
	FieldKind      Field = "kind"
	FieldNamespace Field = "namespace"
	FieldOutbound  Field = "outbound"
	FieldRoute     Field = "route"
	FieldInbound   Field = "inbound"
	FieldListener  Field = "listener"
	FieldHostname  Field = "hostname"
	FieldSpiffeID  Field = "spiffe-id"
	FieldPath      Field = "path"
	FieldHeader    Field = "header"
	FieldTag       Field = "tag"
)

// Fields returns the fields that errors name.
func Fields() []Field {
	return []Field{
		FieldKind, FieldNamespace, FieldOutbound, FieldRoute, FieldInbound, FieldListener, FieldHostname,
		FieldSpiffeID, FieldPath, FieldHeader, FieldTag,
	}
}

// An Error is an [ErrUsage] or an [ErrNotFound] with its own text, which names
// fields of the question.
type Error struct {
	kind   error
	format string
	args   []any
}

// Error returns the text with the names of the fields.
func (e *Error) Error() string { return fmt.Sprintf(e.format, e.args...) }

// Is reports whether the error is of a kind: [ErrUsage] or [ErrNotFound].
func (e *Error) Is(target error) bool { return target == e.kind }

// Spelled returns the error with other names of the fields, such as flags.
func (e *Error) Spelled(spell func(Field) string) *Error {
	spelled := &Error{e.kind, e.format, make([]any, len(e.args))}
	for i, arg := range e.args {
		if field, ok := arg.(Field); ok {
			arg = spell(field)
		}
		spelled.args[i] = arg
	}
	return spelled
}

// Usagef returns an [ErrUsage]. Arguments of type [Field] are names of fields.
func Usagef(format string, args ...any) error { return &Error{ErrUsage, format, args} }

// NotFoundf returns an [ErrNotFound]. Arguments of type [Field] are names of fields.
func NotFoundf(format string, args ...any) error { return &Error{ErrNotFound, format, args} }

// NotFound is an error about a name that is not among the known names.
func NotFound(what, name string, known []string) error {
	return NotFoundf("%s", diag.WithHint(what, diag.NearNames(name, known)))
}
