package inspect

import (
	"errors"
	"fmt"

	"github.com/meshmatch/meshmatch/core/diag"
)

// ErrUsage indicates that a question is incomplete, or contradicts itself.
var ErrUsage = errors.New("wrong usage")

// ErrNotFound indicates that there is no resource, or no part of one, of a name, or
// that there are several.
var ErrNotFound = errors.New("not found")

// queryError is an error of one of the kinds above with a text of its own.
type queryError struct {
	kind error
	text string
}

func (e *queryError) Error() string        { return e.text }
func (e *queryError) Is(target error) bool { return target == e.kind }

func usagef(format string, args ...any) error {
	return &queryError{ErrUsage, fmt.Sprintf(format, args...)}
}

func notFoundf(format string, args ...any) error {
	return &queryError{ErrNotFound, fmt.Sprintf(format, args...)}
}

// notFound is an error about a name that none of the known names is.
func notFound(what, name string, known []string) error {
	return &queryError{ErrNotFound, diag.Diagnostic{What: what, Hint: diag.DidYouMean(name, known)}.Message()}
}
