package emit

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/meshmatch/meshmatch/gen/internal/ir"
)

// mapState returns the name of the state of a map that merges by key. For each key the
// state contains the item that set the entry or, if entries are structs, the slot of
// the struct.
func (e *emitter) mapState(rule ir.Map) string {
	ident := rule.Elem.Ident + "By" + rule.Key.Ident
	name, fresh := e.declare(mapKey(rule), lower(ident)+"State", " is the state of merging a map by key.", func(g *jen.Group) {
		g.Id("at").Int32().Comment("the highest item that has the map")
		g.Id("entries").Add(e.entries(rule))
	})
	if fresh {
		e.method(name, "fill", func() { e.mapFill(name, rule) })
		e.mapMethod(rule, "origins")
	}
	return name
}

func mapKey(rule ir.Map) string { return fmt.Sprintf("map %p %p", rule.Key, rule.Elem) }

// entries prints the type of the map from keys to the states of their entries.
func (e *emitter) entries(rule ir.Map) *jen.Statement {
	if rule.Struct == nil {
		return jen.Map(e.typ(rule.Key)).Int32()
	}
	return jen.Map(e.typ(rule.Key)).Op("*").Id(e.slot(rule.Struct))
}

func (e *emitter) mapFill(state string, rule ir.Map) {
	typ := func() *jen.Statement { return jen.Map(e.typ(rule.Key)).Add(e.typ(rule.Elem)) }
	e.add(state, "fill", receiver(state).Id("fill").
		Params(jen.List(jen.Id("m"), jen.Id("lower")).Add(typ()), jen.Id("item").Int32()).Add(typ()).Block(
		jen.If(jen.Id("lower == nil")).Block(jen.Return(jen.Id("m"))),
		jen.If(jen.Id("s.at == 0")).Block(
			jen.Id("s.at = item"),
			jen.Id("m").Op("=").Make(typ(), jen.Id("len(lower)")),
			jen.Id("s.entries").Op("=").Make(e.entries(rule), jen.Id("len(lower)"))),
		jen.For(jen.Id("k, x").Op(":=").Range().Id("lower")).BlockFunc(func(g *jen.Group) {
			if nilable(rule.Elem) {
				g.If(jen.Id("x == nil")).Block(jen.Continue())
			}
			e.fillEntry(g, rule)
		}),
		jen.Return(jen.Id("m"))))
}

func (e *emitter) fillEntry(g *jen.Group, rule ir.Map) {
	if rule.Struct == nil {
		g.If(jen.Id("s.entries[k] == 0")).Block(jen.Id("m[k], s.entries[k] = x, item"))
		return
	}
	pointer := rule.Elem.Kind == ir.Pointer
	from, merged := "&x", "entry.value"
	if pointer {
		from, merged = "x", "&entry.value"
	}
	g.Id("entry").Op(":=").Id("s.entries[k]")
	g.If(jen.Id("entry == nil")).Block(
		jen.Id("entry").Op("=").New(jen.Id(e.slot(rule.Struct))),
		jen.Id("s.entries[k] = entry"))
	g.Var().Id("v").Op("*").Add(e.typ(rule.Struct.Value))
	g.Id("entry.fill(&v, " + from + ", item)")
	g.Id("m[k] = " + merged)
}

// nilable reports whether a value can be nil, in which case nil means not set.
func nilable(v *ir.Value) bool { return v.Kind == ir.Pointer || v.Kind == ir.List || v.Nilable }

// mapMethod requests top, origins or leaves of a map. The leaf is the entry.
func (e *emitter) mapMethod(rule ir.Map, method string) {
	name := e.mapState(rule)
	item := "entry"
	if rule.Struct != nil {
		item = "entry.top()"
		if method == "origins" {
			e.slotMethod(rule.Struct, "origins")
		} else {
			e.slotMethod(rule.Struct, "top")
		}
	}
	empty := jen.Id("len(s.entries) == 0")
	e.method(name, method, func() {
		switch method {
		case "top":
			e.top(name,
				jen.If(empty).Block(jen.Return(jen.Id("s.at"))),
				jen.Var().Id("item").Int32(),
				jen.For(jen.Id("_, entry").Op(":=").Range().Id("s.entries")).Block(
					jen.Id("item").Op("=").Id("max").Call(jen.Id("item"), jen.Id(item))),
				jen.Return(jen.Id("item")))
		case "origins":
			add := e.addOrigin("entry")
			if rule.Struct != nil {
				add = jen.Id("entry.origins(dst, base)")
			}
			e.origins(name,
				jen.If(empty).Block(jen.Return(e.addOrigin("s.at"))),
				jen.For(jen.Id("_, entry").Op(":=").Range().Id("s.entries")).Block(
					jen.Id("dst").Op("=").Add(add)),
				jen.Return(jen.Id("dst")))
		case "leaves":
			e.leaves(name,
				jen.If(empty).Block(jen.Return(e.emptyLeaf())),
				jen.For(jen.Id("_, k").Op(":=").Range().Qual("slices", "Sorted").Call(jen.Qual("maps", "Keys").Call(jen.Id("s.entries")))).BlockFunc(func(g *jen.Group) {
					x := "s.entries[k]"
					if rule.Struct != nil {
						x += ".top()"
					}
					g.If(jen.Op("!").Id("yield").Call(
						jen.Id("path").Op("+").Lit("/").Op("+").Add(e.call("mergeEscape", convert(rule.Key, "string", "k"))),
						jen.Id("int("+x+")-1"))).Block(jen.Return(jen.False()))
				}),
				jen.Return(jen.True()))
		}
	})
}
