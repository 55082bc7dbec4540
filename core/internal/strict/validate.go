package strict

import "github.com/meshmatch/meshmatch/core/diag"

// Validator is implemented by types with conditions beyond their shape.
//
// Validate is called for decoded values and for values made in Go, inner values
// first. It is called even if a part of the value has errors, so that one
// mistake does not hide another; [Decode] describes the content of such a
// value. An error that Validate reports is dropped if there already is an error
// at the same place, within it, or at an enclosing place.
type Validator interface {
	Validate(at *diag.At)
}

// Defaulter is implemented by types whose absent fields have defaults.
// SetDefaults is called for decoded values before they are validated, even if a
// part of the value has errors. It is not called for values made in Go.
type Defaulter interface {
	SetDefaults()
}

// validate calls the Validate method of a value at a place, given a pointer to the value.
// The errors since before belong to its parts.
func validate(at *diag.At, value any, before int) {
	if checked, ok := value.(Validator); ok {
		at.Sink().Check(before, func() { checked.Validate(at) })
	}
}
