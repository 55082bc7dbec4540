package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/meshmatch/meshmatch/gen/internal/ir"
)

// clone prints the statement that makes dst a deep copy of src. Both are expressions of
// type v, addressable if v is a struct.
func (e *emitter) clone(v *ir.Value, dst, src string) jen.Code {
	switch {
	case v.Flat:
		return jen.Id(dst).Op("=").Id(src)
	case byPointer(v):
		name := e.function("copy", v, func(name string) { e.copyFunction(name, v) })
		return jen.Id(name).Call(arg(v, dst), arg(v, src))
	}
	name := e.function("clone", v, func(name string) { e.cloneFunction(name, v) })
	return jen.Id(dst).Op("=").Id(name).Call(jen.Id(src))
}

// copyFunction prints the function that makes the struct dst a deep copy of
// src.
func (e *emitter) copyFunction(name string, v *ir.Value) {
	var body []jen.Code
	if v.Kind == ir.Opaque {
		clone := "src.Clone()"
		if v.Methods.ClonePointer {
			clone = "*src.Clone()"
		}
		body = []jen.Code{jen.Id("*dst").Op("=").Id(clone)}
	} else {
		body = []jen.Code{jen.Id("*dst").Op("=").Id("*src")}
		for _, f := range v.Fields {
			if !f.Value.Flat {
				body = append(body, e.clone(f.Value, "dst."+f.Name, "src."+f.Name))
			}
		}
	}
	e.clones = append(e.clones, jen.Func().Id(name).
		Params(jen.Id("dst"), jen.Id("src").Op("*").Add(e.typ(v))).Block(body...))
}

func (e *emitter) cloneFunction(name string, v *ir.Value) {
	body := []jen.Code{jen.If(jen.Id("v == nil")).Block(jen.Return(jen.Nil()))}
	switch v.Kind {
	case ir.Pointer:
		body = append(body,
			jen.Id("c").Op(":=").New(e.typ(v.Elem)),
			e.clone(v.Elem, "*c", "*v"),
		)
	case ir.List:
		body = append(body, jen.Id("c").Op(":=").Make(e.typ(v), jen.Id("len(v)")))
		if v.Elem.Flat {
			body = append(body, jen.Id("copy(c, v)"))
		} else {
			body = append(body, jen.For(jen.Id("i").Op(":=").Range().Id("v")).Block(e.clone(v.Elem, "c[i]", "v[i]")))
		}
	case ir.MapKind:
		body = append(body, jen.Id("c").Op(":=").Make(e.typ(v), jen.Id("len(v)")))
		entry := []jen.Code{jen.Id("c[k] = x")}
		if !v.Elem.Flat {
			entry = []jen.Code{jen.Var().Id("y").Add(e.typ(v.Elem)), e.clone(v.Elem, "y", "x"), jen.Id("c[k] = y")}
		}
		body = append(body, jen.For(jen.Id("k, x").Op(":=").Range().Id("v")).Block(entry...))
	}
	body = append(body, jen.Return(jen.Id("c")))
	e.clones = append(e.clones, jen.Func().Id(name).
		Params(jen.Id("v").Add(e.typ(v))).Add(e.typ(v)).Block(body...))
}
