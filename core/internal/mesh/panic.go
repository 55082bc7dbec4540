package mesh

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// ErrPanic is core.ErrPanic.
var ErrPanic = errors.New("panic in the code of a policy kind or of an order")

// Guard turns a panic of an embedder's code into an error.
type Guard struct {
	Code string // what is running: a policy kind, or the order
}

// Recover is deferred by functions that run an embedder's code.
func (g *Guard) Recover(err *error) {
	if cause := recover(); cause != nil {
		*err = fmt.Errorf("%w (%s): %v\n%s", ErrPanic, g.Code, cause, debug.Stack())
	}
}
