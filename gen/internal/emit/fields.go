package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/meshmatch/meshmatch/gen/internal/ir"
)

// madeFor prints a declaration that compiles only as long as a struct has the fields for which
// the code is made: a conversion from a struct with these fields. Without it, a field that is
// added later would be neither merged nor compared.
func (e *emitter) madeFor(v *ir.Value) {
	if e.checked[v] {
		return
	}
	e.checked[v] = true
	for _, f := range v.Fields {
		if !hasName(f.Value) {
			return
		}
	}
	fields := jen.StructFunc(func(g *jen.Group) {
		for _, f := range v.Fields {
			if f.Embedded {
				g.Add(e.typ(f.Value))
			} else {
				g.Id(f.Name).Add(e.typ(f.Value))
			}
		}
	})
	e.fields = append(e.fields, jen.Id("_").Op("=").Add(fields).Parens(e.typ(v).Values()))
}

// hasName reports whether a type can be printed: it has no part that is a struct without a
// name.
func hasName(v *ir.Value) bool {
	switch {
	case v.Name != "":
		return true
	case v.Kind == ir.Pointer, v.Kind == ir.List:
		return hasName(v.Elem)
	case v.Kind == ir.MapKind:
		return hasName(v.Key) && hasName(v.Elem)
	}
	return false
}

// printFields prints all declarations of madeFor.
func (e *emitter) printFields() []jen.Code {
	if len(e.fields) == 0 {
		return nil
	}
	return []jen.Code{comment("If this does not compile, a struct has other fields than those that the code below\nmerges and compares: run go generate.").Add(jen.Var().Defs(e.fields...))}
}
