package conf

import (
	"reflect"

	"github.com/meshmatch/meshmatch/core/diag"
)

// WarnIdle reports a warning about an object, a pointer to a struct, that is present
// and sets nothing. It hides what policies of lower priority set for it (SPEC 6),
// which is seldom meant.
func WarnIdle(at *diag.At, object any) {
	if reflect.ValueOf(object).Elem().IsZero() {
		at.Warnf("set a field, or remove it", "sets nothing")
	}
}

// Default sets a field that is absent to a value. The value is copied.
func Default[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}
