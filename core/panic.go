package core

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// ErrPanic indicates that the code of a policy kind panicked, such as a merger
// that was written by hand, or an embedder's order. The error has the stack.
// What was published before stays as it is.
var ErrPanic = errors.New("the code of a policy kind or of an order panicked")

// catch is deferred where code of kinds runs, and turns a panic of it into an
// error.
func catch(err *error) {
	if cause := recover(); cause != nil {
		*err = fmt.Errorf("%w: %v\n%s", ErrPanic, cause, debug.Stack())
	}
}
