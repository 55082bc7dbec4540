package conf

import (
	"reflect"

	"github.com/meshmatch/meshmatch/core/diag"
)

// WarnIdle warns about an object, given as a pointer to a struct, that is present but
// sets nothing. Such an object hides the settings of policies of lower priority (SPEC
// 6), which is rarely intended.
func WarnIdle(at *diag.At, object any) {
	if reflect.ValueOf(object).Elem().IsZero() {
		at.Warnf(diag.EmptySection, "set a field, or remove it", "sets nothing")
	}
}

// RefuseIdle reports an error for an object, given as a pointer to a struct, that is
// present but sets nothing. It is for objects that Kuma also refuses (SPEC 1.4).
func RefuseIdle(at *diag.At, object any) {
	if reflect.ValueOf(object).Elem().IsZero() {
		at.Errorf(diag.EmptyValue, "set a field, or remove it", "sets nothing")
	}
}

// Default sets an absent field to a copy of a value.
func Default[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}
