package emit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/meshmatch/meshmatch/gen/internal/ir"
)

const mergePath = "github.com/meshmatch/meshmatch/gen/merge"

// runtime prints a name of package merge.
func (e *emitter) runtime(name string) *jen.Statement {
	e.importName(mergePath, "merge")
	return jen.Qual(mergePath, name)
}

// structState returns the name of the state of a struct, and requests the state.
func (e *emitter) structState(s *ir.Struct) string {
	name, fresh := e.names.nameFor(fmt.Sprintf("state %p", s), lower(s.Value.Ident)+"State")
	if fresh {
		e.madeFor(s.Value)
		e.queue = append(e.queue, func() { e.printState(name, s) })
	}
	return name
}

// printState prints the state of a struct.
func (e *emitter) printState(name string, s *ir.Struct) {
	e.states = append(e.states, comment(name+" is the state of merging "+s.Value.Name+"s.").Type().Id(name).StructFunc(func(g *jen.Group) {
		for _, f := range s.Fields {
			g.Id(f.Name).Add(e.fieldState(f))
		}
		if s.Union {
			g.Id("closed").Bool().Comment("a lower conf had another " + discriminator(s) + ": everything below it is ignored")
		}
	}))
	e.structFill(name, s)
	tops := make([]jen.Code, len(s.Fields))
	origins := make([]jen.Code, len(s.Fields), len(s.Fields)+1)
	leaves := make([]jen.Code, len(s.Fields))
	for i, f := range s.Fields {
		item, step := "s."+f.Name, "/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(f.JSON)
		if isLeaf(f) {
			tops[i] = jen.Id(item)
			origins[i] = jen.Id("dst").Op("=").Add(e.runtime("Origin")).Call(jen.Id("dst"), jen.Id("base"), jen.Id(item))
			leaves[i] = e.runtime("Leaf").Call(jen.Id("path"), jen.Lit(step), jen.Id(item), jen.Id("yield"))
			continue
		}
		tops[i] = jen.Id(item + ".Top()")
		origins[i] = jen.Id("dst = " + item + ".Origins(dst, base)")
		leaves[i] = jen.Id(item+".Leaves").Call(jen.Id("path").Op("+").Lit(step), jen.Id("yield"))
	}
	if len(s.Fields) == 0 {
		tops, leaves = []jen.Code{jen.Lit(0)}, []jen.Code{jen.True()}
	} else {
		tops = []jen.Code{jen.Id("max").Call(tops...)}
	}
	e.states = append(e.states,
		receiver(name).Id("Top").Params().Int32().Block(jen.Return(tops...)),
		receiver(name).Id("Origins").Params(jen.Id("dst").Index().Int(), jen.Id("base").Int()).Index().Int().
			Block(append(origins, jen.Return(jen.Id("dst")))...),
		receiver(name).Id("Leaves").Params(jen.Id("path").String(), yieldParam()).Bool().Block(jen.Return(and(leaves))))
	if len(s.Keys) > 0 {
		e.printKeys(name, s)
	}
}

func receiver(state string) *jen.Statement { return jen.Func().Params(jen.Id("s").Op("*").Id(state)) }

// isLeaf reports whether the state of a field is the item that set it.
func isLeaf(f ir.Field) bool {
	switch f.Rule.(type) {
	case ir.Replace, ir.Discriminator:
		return true
	}
	return false
}

func discriminator(s *ir.Struct) string {
	for _, f := range s.Fields {
		if _, ok := f.Rule.(ir.Discriminator); ok {
			return f.Name
		}
	}
	return ""
}

// fieldState prints the type of the state of a field.
func (e *emitter) fieldState(f ir.Field) jen.Code {
	switch rule := f.Rule.(type) {
	case ir.Nested:
		if rule.Pointer {
			return e.ofStruct("Slot", rule.Struct)
		}
		return jen.Id(e.structState(rule.Struct))
	case ir.Concat:
		return e.runtime("Appended").Types(e.typ(rule.Elem))
	case ir.Keyed:
		elem := e.typ(rule.Elem.Value)
		if rule.Pointer {
			elem = jen.Op("*").Add(elem)
		}
		return e.ofStruct("List", rule.Elem, elem)
	case ir.Map:
		if rule.Struct == nil {
			return e.runtime("Map").Types(e.typ(rule.Key), e.typ(rule.Elem))
		}
		return e.ofStruct("StructMap", rule.Struct, e.typ(rule.Key), e.typ(rule.Elem))
	}
	return jen.Int32()
}

// ofStruct prints a type of package merge that contains states of a struct.
func (e *emitter) ofStruct(name string, s *ir.Struct, types ...jen.Code) jen.Code {
	state := e.structState(s)
	return e.runtime(name).Types(append(types, e.typ(s.Value), jen.Id(state), jen.Op("*").Id(state))...)
}

// structFill prints Fill of a struct, which returns the number of leaves that it has set. The
// number has no meaning if the struct is [ir.Endless].
func (e *emitter) structFill(state string, s *ir.Struct) {
	e.states = append(e.states, receiver(state).Id("Fill").
		Params(jen.List(jen.Id("v"), jen.Id("lower")).Op("*").Add(e.typ(s.Value)), jen.Id("item").Int32()).
		Params(jen.Id("set").Int()).BlockFunc(func(g *jen.Group) {
		if s.Union {
			fillDiscriminator(g, discriminator(s))
		}
		for _, field := range s.Fields {
			e.fillField(g, field)
		}
		g.Return(jen.Id("set"))
	}))
}

// fillDiscriminator prints the first step of filling a union. The highest conf
// determines the type. The merge from the lowest conf drops everything below a
// conf with another type, so the union is closed at that conf.
func fillDiscriminator(g *jen.Group, name string) {
	g.Switch().Block(
		jen.Case(jen.Id("s.closed")).Block(jen.Return(jen.Lit(0))),
		jen.Case(jen.Id("s."+name).Op("==").Lit(0)).Block(
			jen.Id(fmt.Sprintf("v.%[1]s, s.%[1]s = lower.%[1]s, item", name))),
		jen.Case(jen.Id(fmt.Sprintf("v.%[1]s != lower.%[1]s", name))).Block(
			jen.Id("s.closed = true"),
			jen.Return(jen.Lit(0))),
	)
}

func (e *emitter) fillField(g *jen.Group, f ir.Field) {
	here, there, state := "v."+f.Name, "lower."+f.Name, "s."+f.Name
	switch rule := f.Rule.(type) {
	case ir.Replace:
		condition := jen.Id(state).Op("==").Lit(0)
		if set := isSet(rule, there); set != "" {
			condition.Op("&&").Id(set)
		}
		g.If(condition).Block(jen.Id(fmt.Sprintf("%s, %s = %s, item", here, state, there)), jen.Id("set++"))
	case ir.Nested:
		fill, from := "Fill", jen.Id("&"+there)
		if rule.Pointer {
			from = jen.Id(there)
			if rule.Struct.Leaves == 0 {
				fill = "FillPresence"
			}
		}
		g.Id("set").Op("+=").Id(state).Dot(fill).Call(jen.Id("&"+here), from, jen.Id("item"))
	case ir.Concat:
		e.fillList(g, f.Name, "Fill", rule.Behind)
	case ir.Keyed:
		fill := "Fill"
		if rule.HighestFirst {
			fill = "FillHighestFirst"
		}
		e.fillList(g, f.Name, fill, rule.Behind)
	case ir.Map:
		arguments := []jen.Code{jen.Id(here), jen.Id(there), jen.Id("item")}
		if rule.Struct == nil {
			arguments = append(arguments, e.isNil(rule.Elem))
		}
		g.Id(here).Op("=").Id(state).Dot("Fill").Call(arguments...)
	}
}

// isNil prints the function that reports whether an entry of a map is not set; nil if each is.
func (e *emitter) isNil(v *ir.Value) jen.Code {
	if v.Kind != ir.Pointer && v.Kind != ir.List && !v.Nilable {
		return jen.Nil()
	}
	return jen.Func().Params(jen.Id("x").Add(e.typ(v))).Bool().Block(jen.Return(jen.Id("x == nil")))
}

// fillList prints the step of a list that grows, which may be behind a pointer. A pointer to a
// nil list is set.
func (e *emitter) fillList(g *jen.Group, name, fill string, behind *ir.Value) {
	here, there, state := "v."+name, "lower."+name, "s."+name
	if behind == nil {
		g.Id(here).Op("=").Id(state).Dot(fill).Call(jen.Id(here), jen.Id(there), jen.Id("item"))
		return
	}
	g.If(jen.Id(there+" != nil")).Block(
		jen.If(jen.Id(here+" == nil")).Block(jen.Id(here).Op("=").New(e.typ(behind))),
		jen.Id("*"+here).Op("=").Id(state).Dot(fill).Call(jen.Id("*"+here), jen.Id("*"+there), jen.Id("item")),
		jen.Id(state+".Present(item)"))
}

// isSet returns the condition under which a leaf is set in a conf, or "" if it is
// always set.
func isSet(rule ir.Replace, x string) string {
	switch {
	case rule.Set == ir.Always:
		return ""
	case rule.Set == ir.NotNil:
		return x + " != nil"
	case rule.Zero == "false":
		return x
	}
	return x + " != " + rule.Zero
}

// printKeys prints the methods that hash and compare the keys of elements.
func (e *emitter) printKeys(state string, s *ir.Struct) {
	var equal, hash []jen.Code
	for _, f := range s.Fields {
		if slices.Contains(s.Keys, f.Name) {
			v := f.Rule.(ir.Replace).Value
			hash = append(hash, e.hash(v, "&d", "x."+f.Name))
			equal = append(equal, e.equal(v, "a."+f.Name, "b."+f.Name))
		}
	}
	typ := jen.Op("*").Add(e.typ(s.Value))
	e.states = append(e.states,
		jen.Func().Params(jen.Op("*").Id(state)).Id("HashKey").Params(jen.Id("x").Add(typ)).Uint64().Block(digest(hash...)...),
		jen.Func().Params(jen.Op("*").Id(state)).Id("EqualKeys").Params(jen.List(jen.Id("a"), jen.Id("b")).Add(typ)).Bool().Block(jen.Return(and(equal))))
}
