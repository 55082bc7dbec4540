package emit

import (
	"fmt"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/meshmatch/meshmatch/gen/internal/ir"
)

// state is the printed code of a state.
type state struct {
	typ     jen.Code
	methods [len(methodOrder)]jen.Code
}

// methodOrder is the order in which methods are printed.
var methodOrder = [...]string{"fill", "find", "top", "origins", "leaves"}

func (e *emitter) printStates() []jen.Code {
	var all []jen.Code
	for _, name := range e.stateOrder {
		all = append(all, e.states[name].typ)
		for _, method := range e.states[name].methods {
			if method != nil {
				all = append(all, method)
			}
		}
	}
	return all
}

// declare returns the name of the state with a key, and prints its type if it is
// new.
func (e *emitter) declare(key, wanted, doc string, fields func(g *jen.Group)) (name string, fresh bool) {
	name, fresh = e.names.nameFor(key, wanted)
	if fresh {
		e.states[name] = &state{}
		e.stateOrder = append(e.stateOrder, name)
		e.queue = append(e.queue, func() {
			e.states[name].typ = comment(name + doc).Type().Id(name).StructFunc(fields)
		})
	}
	return name, fresh
}

// method requests a method of a state; print is called once.
func (e *emitter) method(state, method string, print func()) {
	key := state + "." + method
	if e.asked[key] {
		return
	}
	e.asked[key] = true
	e.queue = append(e.queue, print)
}

// add prints a method of a state.
func (e *emitter) add(state, method string, code jen.Code) {
	e.states[state].methods[slices.Index(methodOrder[:], method)] = code
}

// top prints the method top of a state.
func (e *emitter) top(state string, body ...jen.Code) {
	e.add(state, "top", receiver(state).Id("top").Params().Int32().Block(body...))
}

// origins prints the method origins of a state.
func (e *emitter) origins(state string, body ...jen.Code) {
	e.add(state, "origins", receiver(state).Id("origins").
		Params(jen.Id("dst").Index().Int(), jen.Id("base").Int()).Index().Int().Block(body...))
}

// leaves prints the method leaves of a state.
func (e *emitter) leaves(state string, body ...jen.Code) {
	e.add(state, "leaves", receiver(state).Id("leaves").
		Params(jen.Id("path").String(), yieldParam()).Bool().Block(body...))
}

func receiver(state string) *jen.Statement { return jen.Func().Params(jen.Id("s").Op("*").Id(state)) }

// addOrigin prints dst with an item added.
func (e *emitter) addOrigin(item string) *jen.Statement {
	return e.call("mergeOrigin", jen.Id("dst"), jen.Id("base"), jen.Id(item))
}

// structState returns the name of the state of a struct.
func (e *emitter) structState(s *ir.Struct) string {
	v := s.Value
	name, fresh := e.declare(fmt.Sprintf("state %p", s), lower(v.Ident)+"State", " is the state of merging "+v.Name+"s.", func(g *jen.Group) {
		for _, f := range s.Fields {
			g.Id(f.Name).Add(e.fieldState(f))
		}
		if s.Union {
			g.Id("closed").Bool().Comment("a lower conf had another " + discriminator(s) + ": everything below it is ignored")
		}
	})
	if fresh {
		e.madeFor(v)
		e.method(name, "fill", func() { e.structFill(name, s) })
		e.method(name, "origins", func() { e.structOrigins(name, s) })
	}
	return name
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
			return jen.Id(e.slot(rule.Struct))
		}
		return jen.Id(e.structState(rule.Struct))
	case ir.Concat:
		return jen.Id(e.concat()).Types(e.typ(rule.Elem))
	case ir.Keyed:
		return jen.Id(e.keyed(rule))
	case ir.Map:
		return jen.Id(e.mapState(rule))
	}
	return jen.Int32()
}

// structFill prints fill of a struct. If the struct can be complete, the method
// returns the number of leaves that it has set.
func (e *emitter) structFill(state string, s *ir.Struct) {
	typ := e.typ(s.Value)
	f := receiver(state).Id("fill").Params(jen.List(jen.Id("v"), jen.Id("lower")).Op("*").Add(typ), jen.Id("item").Int32())
	counted := s.Leaves != ir.Endless
	if counted {
		f.Params(jen.Id("set").Int())
	}
	f.BlockFunc(func(g *jen.Group) {
		if s.Union {
			fillDiscriminator(g, discriminator(s))
		}
		for _, field := range s.Fields {
			e.fillField(g, field, counted)
		}
		if counted {
			g.Return(jen.Id("set"))
		}
	})
	e.add(state, "fill", f)
}

// fillDiscriminator prints the first step of filling a union. The highest conf
// determines the type. The merge from the lowest conf drops everything below a
// conf with another type, so the union is closed at that conf.
func fillDiscriminator(g *jen.Group, name string) {
	g.Switch().Block(
		jen.Case(jen.Id("s.closed")).Block(jen.Return()),
		jen.Case(jen.Id("s."+name).Op("==").Lit(0)).Block(
			jen.Id(fmt.Sprintf("v.%[1]s, s.%[1]s = lower.%[1]s, item", name))),
		jen.Case(jen.Id(fmt.Sprintf("v.%[1]s != lower.%[1]s", name))).Block(
			jen.Id("s.closed = true"),
			jen.Return()),
	)
}

func (e *emitter) fillField(g *jen.Group, f ir.Field, counted bool) {
	here, there, state := "v."+f.Name, "lower."+f.Name, "s."+f.Name
	switch rule := f.Rule.(type) {
	case ir.Replace:
		condition := jen.Id(state).Op("==").Lit(0)
		if set := isSet(rule, there); set != "" {
			condition.Op("&&").Id(set)
		}
		g.If(condition).BlockFunc(func(g *jen.Group) {
			g.Id(fmt.Sprintf("%s, %s = %s, item", here, state, there))
			if counted {
				g.Id("set++")
			}
		})
	case ir.Nested:
		from := jen.Id("&" + there)
		if rule.Pointer {
			from = jen.Id(there)
		}
		call := jen.Id(state).Dot("fill").Call(jen.Id("&"+here), from, jen.Id("item"))
		if counted {
			call = jen.Id("set").Op("+=").Add(call)
		}
		g.Add(call)
	case ir.Concat:
		e.fillList(g, f.Name, rule.Behind)
	case ir.Keyed:
		e.fillList(g, f.Name, rule.Behind)
	case ir.Map:
		g.Id(here).Op("=").Id(state).Dot("fill").Call(jen.Id(here), jen.Id(there), jen.Id("item"))
	}
}

// fillList prints the step of a list that grows, which may be behind a pointer. A pointer to a
// nil list is set.
func (e *emitter) fillList(g *jen.Group, name string, behind *ir.Value) {
	here, there, state := "v."+name, "lower."+name, "s."+name
	if behind == nil {
		g.Id(here).Op("=").Id(state).Dot("fill").Call(jen.Id(here), jen.Id(there), jen.Id("item"))
		return
	}
	g.If(jen.Id(there+" != nil")).Block(
		jen.If(jen.Id(here+" == nil")).Block(jen.Id(here).Op("=").New(e.typ(behind))),
		jen.Id("*"+here).Op("=").Id(state).Dot("fill").Call(jen.Id("*"+here), jen.Id("*"+there), jen.Id("item")),
		jen.If(jen.Id(state+".at == 0")).Block(jen.Id(state+".at = item")))
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

func (e *emitter) structTop(s *ir.Struct) {
	name := e.structState(s)
	e.method(name, "top", func() {
		if len(s.Fields) == 0 {
			e.top(name, jen.Return(jen.Lit(0)))
			return
		}
		items := make([]jen.Code, len(s.Fields))
		for i, f := range s.Fields {
			if !e.part(f, "top") {
				items[i] = jen.Id("s." + f.Name)
				continue
			}
			items[i] = jen.Id("s." + f.Name + ".top()")
		}
		e.top(name, jen.Return(jen.Id("max").Call(items...)))
	})
}

func (e *emitter) structOrigins(state string, s *ir.Struct) {
	body := make([]jen.Code, 0, len(s.Fields)+1)
	for _, f := range s.Fields {
		add := jen.Id("s." + f.Name + ".origins(dst, base)")
		if !e.part(f, "origins") {
			add = e.addOrigin("s." + f.Name)
		}
		body = append(body, jen.Id("dst").Op("=").Add(add))
	}
	e.origins(state, append(body, jen.Return(jen.Id("dst")))...)
}

func (e *emitter) structLeaves(s *ir.Struct) {
	name := e.structState(s)
	e.method(name, "leaves", func() {
		all := make([]jen.Code, len(s.Fields))
		for i, f := range s.Fields {
			step := "/" + escapePointer(f.JSON)
			if e.part(f, "leaves") {
				all[i] = jen.Id("s."+f.Name+".leaves").Call(jen.Id("path").Op("+").Lit(step), jen.Id("yield"))
				continue
			}
			all[i] = e.call("mergeLeaf", jen.Id("path"), jen.Lit(step), jen.Id("s."+f.Name), jen.Id("yield"))
		}
		if len(all) == 0 {
			all = []jen.Code{jen.True()}
		}
		e.leaves(name, jen.Return(and(all)))
	})
}

// part requests a method of the state of a field. It reports whether the field has a
// state; otherwise the field is a leaf with an item.
func (e *emitter) part(f ir.Field, method string) bool {
	switch rule := f.Rule.(type) {
	case ir.Nested:
		switch {
		case rule.Pointer:
			e.slotMethod(rule.Struct, method)
		case method == "top":
			e.structTop(rule.Struct)
		case method == "leaves":
			e.structLeaves(rule.Struct)
		}
	case ir.Concat:
	case ir.Keyed:
		e.keyedMethod(rule, method)
	case ir.Map:
		e.mapMethod(rule, method)
	default:
		return false
	}
	return true
}
