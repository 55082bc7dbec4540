package fuzz

import (
	"fmt"
	"runtime/debug"
)

// caught calls check and returns a panic in it as an error, so that what led to
// it is reported and shrunk as for any other failure.
func caught(check func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("it panics: %v\n%s", cause, debug.Stack())
		}
	}()
	return check()
}
