package strict

import (
	"reflect"

	"github.com/meshmatch/meshmatch/core/diag"
)

// Validator is implemented by types that have conditions beyond their shape.
//
// Validate is called for decoded values and for values made in Go, inner
// values first. It is called even if a part of the value is in error, so that
// one mistake does not hide another; [Decode] describes what such a value
// contains. An error that Validate reports is dropped if there is an error at
// the same place already, within it or around it.
type Validator interface {
	Validate(at *diag.At)
}

// Defaulter is implemented by types with absent fields that have a default.
// SetDefaults is called for decoded values before they are validated, even if
// a part of the value is in error. It is not called for values made in Go.
type Defaulter interface {
	SetDefaults()
}

// validate calls the Validate method of v, a value of the place at. The
// errors since before are those of its parts.
func validate(at *diag.At, v reflect.Value, before int) {
	if checked, ok := v.Addr().Interface().(Validator); ok {
		at.Sink().Check(before, func() { checked.Validate(at) })
	}
}
