package emit

import (
	"fmt"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/meshmatch/meshmatch/gen/internal/ir"
)

// keyed returns the name of the state of a list that merges by key. It is
// filled from the highest priority, so an element keeps the place of its first
// occurrence. Lower elements are placed before it: the list grows at the front,
// and the entries grow at the end. If the highest is first, both grow at the end.
func (e *emitter) keyed(rule ir.Keyed) string {
	v := rule.Elem.Value
	ident := v.Ident + "List"
	if rule.Pointer {
		ident = v.Ident + "PtrList"
	}
	if rule.HighestFirst {
		ident += "HighestFirst"
	}
	name, fresh := e.declare(keyedKey(rule), lower(ident)+"State", " is the state of merging a list of "+v.Name+"s by key.", func(g *jen.Group) {
		g.Id("at").Int32().Comment("the highest item that has the list")
		if rule.HighestFirst {
			g.Id("entries").Index().Op("*").Id(e.keyedEntry(rule)).Comment("one for each element")
			return
		}
		g.Id("room").Index().Add(e.elem(rule)).Comment("ends with the list")
		g.Id("entries").Index().Op("*").Id(e.keyedEntry(rule)).Comment("from the last element to the first")
	})
	if fresh {
		e.method(name, "fill", func() { e.keyedFill(name, rule) })
		e.keyedMethod(rule, "origins")
	}
	return name
}

func keyedKey(rule ir.Keyed) string {
	return fmt.Sprintf("keyed %p %t %t", rule.Elem, rule.Pointer, rule.HighestFirst)
}

// elem prints the type of the elements.
func (e *emitter) elem(rule ir.Keyed) *jen.Statement {
	if rule.Pointer {
		return jen.Op("*").Add(e.typ(rule.Elem.Value))
	}
	return e.typ(rule.Elem.Value)
}

func (e *emitter) keyedEntry(rule ir.Keyed) string {
	ident := lower(rule.Elem.Value.Ident) + "Entry"
	if rule.Pointer {
		ident = lower(rule.Elem.Value.Ident) + "PtrEntry"
	}
	name, _ := e.declare(fmt.Sprintf("entry %p %t", rule.Elem, rule.Pointer), ident, " is the state of merging one of the elements.", func(g *jen.Group) {
		g.Id("key").Uint64().Comment("hash of the key")
		if rule.Pointer {
			g.Id("value").Add(e.typ(rule.Elem.Value))
		}
		g.Id("state").Id(e.structState(rule.Elem))
	})
	return name
}

func (e *emitter) keyedFill(state string, rule ir.Keyed) {
	list := func() *jen.Statement { return jen.Index().Add(e.elem(rule)) }
	entry := e.keyedEntry(rule)
	present := "x := &lower[i]"
	if rule.Pointer {
		present = "x := lower[i]"
	}
	before, after := jen.Null(), jen.Null()
	room := func() *jen.Statement {
		return jen.Id("s.room").Op("=").Add(e.call("mergeRoom", jen.Id("s.room"), jen.Id("len(list)"), jen.Id("i+1")))
	}
	if rule.HighestFirst {
		room = func() *jen.Statement {
			return jen.Id("list").Op("=").Qual("slices", "Grow").Call(jen.Id("list"), jen.Id("i+1"))
		}
		before = jen.Id("higher := len(list)")
		after = jen.Qual("slices", "Reverse").Call(jen.Id("list[higher:]")).Line().
			Qual("slices", "Reverse").Call(jen.Id("s.entries[higher:]"))
	}
	e.add(state, "fill", receiver(state).Id("fill").
		Params(jen.List(jen.Id("list"), jen.Id("lower")).Add(list()), jen.Id("item").Int32()).Add(list()).Block(
		jen.If(jen.Id("lower == nil")).Block(jen.Return(jen.Id("list"))),
		jen.If(jen.Id("s.at == 0")).Block(
			jen.Id("s.at = item"),
			jen.Id("list").Op("=").Add(list()).Values()),
		jen.Var().Id("fresh").Index().Id(entry),
		before,
		jen.For(jen.Id("i := len(lower) - 1; i >= 0; i--")).BlockFunc(func(g *jen.Group) {
			g.Id(present)
			if rule.Pointer {
				g.If(jen.Id("x == nil")).Block(jen.Continue())
			}
			g.Id("key").Op(":=").Id(e.keyFunction("hash", rule.Elem)).Call(jen.Id("x"))
			g.Id("at").Op(":=").Id("s.find(list, x, key)")
			g.If(jen.Id("at < 0")).BlockFunc(func(g *jen.Group) {
				g.If(jen.Id("fresh == nil")).Block(
					jen.Id("fresh").Op("=").Make(jen.Index().Id(entry), jen.Id("i+1")),
					jen.Id("s.entries").Op("=").Qual("slices", "Grow").Call(jen.Id("s.entries"), jen.Id("i+1")),
					room())
				g.Id("fresh[i].key = key")
				g.Id("at = len(s.entries)")
				g.Id("s.entries = append(s.entries, &fresh[i])")
				switch {
				case rule.HighestFirst && rule.Pointer:
					g.Id("list = append(list, &fresh[i].value)")
				case rule.HighestFirst:
					g.Id("list = list[:at+1]")
				default:
					g.Id("list = s.room[len(s.room)-len(list)-1:]")
					if rule.Pointer {
						g.Id("list[0] = &fresh[i].value")
					}
				}
			})
			g.Id("s.entries[at].state.fill(" + element(rule, "at") + ", x, item)")
		}),
		after,
		jen.Return(jen.Id("list"))))
	e.keyedFind(state, rule)
}

// element prints a pointer to the element of an entry.
func element(rule ir.Keyed, entry string) string {
	text := "list[len(list)-1-" + entry + "]"
	if rule.HighestFirst {
		text = "list[" + entry + "]"
	}
	if rule.Pointer {
		return text
	}
	return "&" + text
}

// keyedFind prints the search for an element with the key of x. It is a scan that
// compares hashes first, because such lists are short.
func (e *emitter) keyedFind(state string, rule ir.Keyed) {
	e.add(state, "find", jen.Comment("find returns the entry with the key of x, or -1.").Line().
		Add(receiver(state)).Id("find").
		Params(jen.Id("list").Index().Add(e.elem(rule)), jen.Id("x").Op("*").Add(e.typ(rule.Elem.Value)), jen.Id("key").Uint64()).Int().Block(
		jen.For(jen.Id("i, entry").Op(":=").Range().Id("s.entries")).Block(
			jen.If(jen.Id("entry.key == key &&").Id(e.keyFunction("equal", rule.Elem)).Call(jen.Id(element(rule, "i")), jen.Id("x"))).Block(
				jen.Return(jen.Id("i")))),
		jen.Return(jen.Lit(-1))))
}

// keyFunction requests the function that hashes or compares the keys of elements
// and returns its name.
func (e *emitter) keyFunction(operation string, s *ir.Struct) string {
	name, fresh := e.names.nameFor(fmt.Sprintf("%s key %p", operation, s), operation+s.Value.Ident+"Key")
	if !fresh {
		return name
	}
	e.queue = append(e.queue, func() {
		typ := jen.Op("*").Add(e.typ(s.Value))
		var equal, hash []jen.Code
		for _, f := range s.Fields {
			if !slices.Contains(s.Keys, f.Name) {
				continue
			}
			v := f.Rule.(ir.Replace).Value
			if operation == "hash" {
				hash = append(hash, e.hash(v, "&d", "v."+f.Name))
			} else {
				equal = append(equal, e.equal(v, "a."+f.Name, "b."+f.Name))
			}
		}
		if operation == "hash" {
			e.hashes = append(e.hashes, jen.Func().Id(name).Params(jen.Id("v").Add(typ)).Uint64().Block(digest(hash...)...))
		} else {
			e.equals = append(e.equals, jen.Func().Id(name).Params(jen.List(jen.Id("a"), jen.Id("b")).Add(typ)).Bool().Block(jen.Return(and(equal))))
		}
	})
	return name
}

// keyedMethod requests top, origins or leaves of a keyed list. The leaf is the
// element; only origins depends on the items of its parts.
func (e *emitter) keyedMethod(rule ir.Keyed, method string) {
	name := e.keyed(rule)
	if method != "origins" {
		e.structTop(rule.Elem)
	}
	empty, listed := jen.Id("len(s.entries) == 0"), "s.entries[len(s.entries)-1-i]"
	if rule.HighestFirst {
		listed = "s.entries[i]"
	}
	e.method(name, method, func() {
		switch method {
		case "top":
			e.top(name,
				jen.If(empty).Block(jen.Return(jen.Id("s.at"))),
				jen.Var().Id("item").Int32(),
				jen.For(jen.Id("_, entry").Op(":=").Range().Id("s.entries")).Block(
					jen.Id("item").Op("=").Id("max").Call(jen.Id("item"), jen.Id("entry.state.top()"))),
				jen.Return(jen.Id("item")))
		case "origins":
			e.origins(name,
				jen.If(empty).Block(jen.Return(e.addOrigin("s.at"))),
				jen.For(jen.Id("_, entry").Op(":=").Range().Id("s.entries")).Block(
					jen.Id("dst").Op("=").Id("entry.state.origins(dst, base)")),
				jen.Return(jen.Id("dst")))
		case "leaves":
			e.leaves(name,
				jen.If(empty).Block(jen.Return(e.emptyLeaf())),
				jen.For(jen.Id("i").Op(":=").Range().Id("s.entries")).Block(
					jen.Id("entry").Op(":=").Id(listed),
					jen.If(jen.Op("!").Id("yield").Call(
						jen.Id("path").Op("+").Lit("/").Op("+").Qual("strconv", "Itoa").Call(jen.Id("i")),
						jen.Id("int(entry.state.top())-1"))).Block(jen.Return(jen.False()))),
				jen.Return(jen.True()))
		}
	})
}
