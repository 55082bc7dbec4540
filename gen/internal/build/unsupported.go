package build

import (
	"fmt"
	"go/types"
)

// unsupported reports a type that is not in the table of rules.
func (b *builder) unsupported(t types.Type, at place) {
	what, hint := unfit(t)
	b.report(at, what, hint)
}

// unfit returns the error and the hint for a type that is not allowed in a conf.
func unfit(t types.Type) (what, hint string) {
	switch under := t.Underlying().(type) {
	case *types.Interface:
		return "an interface cannot be merged", "use a union: a struct with a discriminator and an arm for each type"
	case *types.Signature:
		return "a function cannot be merged", "a conf is data only"
	case *types.Chan:
		return "a channel cannot be merged", "a conf is data only"
	case *types.Array:
		return "an array cannot be merged", "use a list"
	case *types.Pointer:
		if t != under {
			return "a pointer type with a name cannot be merged", "write the pointer out where it is used"
		}
		return fmt.Sprintf("a pointer to %s cannot be merged", kindName(under.Elem())), "point to a scalar, a list or a struct"
	case *types.Basic:
		return fmt.Sprintf("the type %s cannot be merged", under.Name()), "use a bool, a number or a string"
	}
	return fmt.Sprintf("%s cannot be merged", t), "see the table in the documentation of package gen"
}

func kindName(t types.Type) string {
	switch t.Underlying().(type) {
	case *types.Pointer:
		return "a pointer"
	case *types.Map:
		return "a map"
	case *types.Interface:
		return "an interface"
	case *types.Array:
		return "an array"
	case *types.Signature:
		return "a function"
	case *types.Chan:
		return "a channel"
	}
	return t.String()
}
