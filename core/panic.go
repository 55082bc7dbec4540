package core

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// ErrPanic indicates that the code of a policy kind panicked, such as a
// hand-written merger, or an embedder's order. The error names the kind and
// contains the stack. The published view does not change.
var ErrPanic = errors.New("panic in the code of a policy kind or of an order")

// guard turns a panic of an embedder's code into an error.
type guard struct {
	code string // what is running: a policy kind, or the order
}

// recover is deferred by functions that run an embedder's code.
func (g *guard) recover(err *error) {
	if cause := recover(); cause != nil {
		*err = fmt.Errorf("%w (%s): %v\n%s", ErrPanic, g.code, cause, debug.Stack())
	}
}
