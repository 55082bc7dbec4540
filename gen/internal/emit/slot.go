package emit

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/meshmatch/meshmatch/gen/internal/ir"
)

// slot returns the name of the state of a pointer to a struct. It contains the
// struct, so that merging it needs no allocation, and the struct's state.
func (e *emitter) slot(s *ir.Struct) string {
	v := s.Value
	name, fresh := e.declare(fmt.Sprintf("slot %p", s), lower(v.Ident)+"Slot",
		" is the state of merging pointers to "+v.Name+"s,\nand contains the result.", func(g *jen.Group) {
			g.Id("at").Int32().Comment("the highest item that has one")
			g.Id("value").Add(e.typ(v))
			g.Id("state").Id(e.structState(s))
		})
	if fresh {
		e.method(name, "fill", func() { e.slotFill(name, s) })
		e.slotMethod(s, "origins")
	}
	return name
}

func (e *emitter) slotFill(name string, s *ir.Struct) {
	typ := func() *jen.Statement { return e.typ(s.Value) }
	f := receiver(name).Id("fill").Params(
		jen.Id("v").Op("**").Add(typ()), jen.Id("lower").Op("*").Add(typ()), jen.Id("item").Int32())
	counted := s.Leaves != ir.Endless
	if counted {
		f.Params(jen.Id("set").Int())
	}
	f.BlockFunc(func(g *jen.Group) {
		absent := g.If(jen.Id("lower == nil"))
		if counted {
			absent.Block(jen.Return(jen.Lit(0)))
		} else {
			absent.Block(jen.Return())
		}
		g.If(jen.Id("s.at == 0")).BlockFunc(func(g *jen.Group) {
			g.Id("*v, s.at = &s.value, item")
			if s.Leaves == 0 {
				g.Id("set++").Comment("the presence of the pointer is the only leaf")
			}
		})
		fill := jen.Id("s.state.fill(&s.value, lower, item)")
		switch {
		case !counted:
			g.Add(fill)
		case s.Leaves == 0:
			g.Return(jen.Id("set +").Add(fill))
		default:
			g.Return(fill)
		}
	})
	e.add(name, "fill", f)
}

// slotMethod requests top, origins or leaves of a slot. A struct that is present
// but sets no leaf is itself the leaf.
func (e *emitter) slotMethod(s *ir.Struct, method string) {
	name := e.slot(s)
	e.structTop(s)
	if method == "leaves" {
		e.structLeaves(s)
	}
	empty := jen.Id("s.state.top() == 0")
	e.method(name, method, func() {
		switch method {
		case "top":
			e.top(name,
				jen.If(empty).Block(jen.Return(jen.Id("s.at"))),
				jen.Return(jen.Id("s.state.top()")))
		case "origins":
			e.origins(name,
				jen.If(empty).Block(jen.Return(e.addOrigin("s.at"))),
				jen.Return(jen.Id("s.state.origins(dst, base)")))
		case "leaves":
			e.leaves(name,
				jen.If(empty).Block(jen.Return(e.emptyLeaf())),
				jen.Return(jen.Id("s.state.leaves(path, yield)")))
		}
	})
}

// emptyLeaf prints the leaf of an empty struct, list or map.
func (e *emitter) emptyLeaf() *jen.Statement {
	return e.call("mergeLeaf", jen.Id("path"), jen.Lit(""), jen.Id("s.at"), jen.Id("yield"))
}
