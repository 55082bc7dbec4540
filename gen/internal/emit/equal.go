package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/meshmatch/meshmatch/gen/internal/ir"
)

// equal prints the comparison of two expressions of type v, which are addressable if v
// is a struct.
func (e *emitter) equal(v *ir.Value, a, b string) *jen.Statement {
	if v.Flat {
		return jen.Id(a).Op("==").Id(b)
	}
	name := e.function("equal", v, func(name string) { e.equalFunction(name, v) })
	return jen.Id(name).Call(arg(v, a), arg(v, b))
}

func (e *emitter) equalFunction(name string, v *ir.Value) {
	var body []jen.Code
	switch v.Kind {
	case ir.Opaque:
		other := "*b"
		if v.Methods.EqualPointer {
			other = "b"
		}
		body = []jen.Code{jen.Return(jen.Id("a").Dot("Equal").Call(jen.Id(other)))}
	case ir.StructKind:
		e.madeFor(v)
		body = []jen.Code{jen.Return(e.equalFields(v))}
	case ir.Pointer:
		body = []jen.Code{jen.Return(jen.Id("a == b || a != nil && b != nil &&").Add(e.equal(v.Elem, "*a", "*b")))}
	case ir.List:
		body = []jen.Code{
			jen.If(jen.Id("len(a) != len(b) || (a == nil) != (b == nil)")).Block(jen.Return(jen.False())),
			jen.For(jen.Id("i").Op(":=").Range().Id("a")).Block(
				jen.If(e.different(v.Elem, "a[i]", "b[i]")).Block(jen.Return(jen.False())),
			),
			jen.Return(jen.True()),
		}
	case ir.MapKind:
		body = []jen.Code{
			jen.If(jen.Id("len(a) != len(b) || (a == nil) != (b == nil)")).Block(jen.Return(jen.False())),
			jen.For(jen.Id("k, x").Op(":=").Range().Id("a")).Block(
				jen.If(jen.Id("y, ok := b[k]"), jen.Id("!ok ||").Add(e.different(v.Elem, "x", "y"))).Block(jen.Return(jen.False())),
			),
			jen.Return(jen.True()),
		}
	}
	e.equals = append(e.equals, jen.Func().Id(name).Params(jen.Id("a"), jen.Id("b").Add(e.param(v))).Bool().Block(body...))
}

func (e *emitter) different(v *ir.Value, a, b string) *jen.Statement {
	if v.Flat {
		return jen.Id(a).Op("!=").Id(b)
	}
	return jen.Op("!").Add(e.equal(v, a, b))
}

// equalFields compares the fields of the structs a and b.
func (e *emitter) equalFields(v *ir.Value) *jen.Statement {
	fields := make([]jen.Code, len(v.Fields))
	for i, f := range v.Fields {
		fields[i] = e.equal(f.Value, "a."+f.Name, "b."+f.Name)
	}
	return and(fields)
}

// and joins conditions, one per line.
func and(conditions []jen.Code) *jen.Statement {
	all := &jen.Statement{}
	for i, c := range conditions {
		if i > 0 {
			all.Op("&&").Line()
		}
		all.Add(c)
	}
	return all
}
