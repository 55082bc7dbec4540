package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/meshmatch/meshmatch/gen/internal/ir"
)

// hash prints the statement that writes the expression x of type v to a
// digest.
func (e *emitter) hash(v *ir.Value, digest, x string) jen.Code {
	to := jen.Id(digest)
	switch v.Kind {
	case ir.Bool:
		return e.runtime("HashBool").Call(to, convert(v, "bool", x))
	case ir.Int, ir.Uint:
		return e.runtime("HashWord").Call(to, jen.Uint64().Call(jen.Id(x)))
	case ir.Float:
		return e.runtime("HashFloat").Call(to, convert(v, "float64", x))
	case ir.String:
		return e.runtime("HashString").Call(to, convert(v, "string", x))
	}
	name := e.function("hash", v, func(name string) { e.hashFunction(name, v) })
	return jen.Id(name).Call(to, arg(v, x))
}

// convert prints the conversion of a scalar, if it is needed.
func convert(v *ir.Value, to, x string) jen.Code {
	if v.Pkg == "" && v.Name == to {
		return jen.Id(x)
	}
	return jen.Id(to).Call(jen.Id(x))
}

func (e *emitter) hashFunction(name string, v *ir.Value) {
	word := func(x string) jen.Code { return e.runtime("HashWord").Call(jen.Id("d"), jen.Id(x)) }
	absent := jen.If(jen.Id("v == nil")).Block(word("0"), jen.Return())
	var body []jen.Code
	switch v.Kind {
	case ir.Opaque:
		body = []jen.Code{word("v.Hash()")}
	case ir.StructKind:
		for _, f := range v.Fields {
			body = append(body, e.hash(f.Value, "d", "v."+f.Name))
		}
	case ir.Pointer:
		body = []jen.Code{absent, word("1"), e.hash(v.Elem, "d", "*v")}
	case ir.List:
		body = []jen.Code{
			absent,
			word("uint64(len(v)) + 1"),
			jen.For(jen.Id("i").Op(":=").Range().Id("v")).Block(e.hash(v.Elem, "d", "v[i]")),
		}
	case ir.MapKind:
		body = []jen.Code{
			absent,
			jen.Comment("The hashes of entries are added, so that their order does not matter."),
			jen.Var().Id("sum").Uint64(),
			jen.For(jen.Id("k, x").Op(":=").Range().Id("v")).Block(
				jen.Var().Id("entry").Qual(xxhash, "Digest"),
				jen.Id("entry.Reset()"),
				e.hash(v.Key, "&entry", "k"),
				e.hash(v.Elem, "&entry", "x"),
				jen.Id("sum += entry.Sum64()"),
			),
			word("uint64(len(v)) + 1"),
			word("sum"),
		}
	}
	e.hashes = append(e.hashes, jen.Func().Id(name).
		Params(jen.Id("d").Op("*").Qual(xxhash, "Digest"), jen.Id("v").Add(e.param(v))).Block(body...))
}

// digest prints statements that write to a hash and return its sum.
func digest(write ...jen.Code) []jen.Code {
	body := []jen.Code{
		jen.Var().Id("d").Qual(xxhash, "Digest"),
		jen.Id("d.Reset()"),
	}
	return append(append(body, write...), jen.Return(jen.Id("d.Sum64()")))
}
