package emit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/meshmatch/meshmatch/gen/internal/ir"
)

// state is the code of a state.
type state struct {
	typ     string
	methods [len(methodOrder)]string // empty: not requested
}

// methodOrder is the order in which methods are printed.
var methodOrder = [...]string{"fill", "top", "origins", "leaves"}

func (e *emitter) printStates() []string {
	var all []string
	for _, name := range e.stateOrder {
		all = append(append(all, e.states[name].typ), e.states[name].methods[:]...)
	}
	return slices.DeleteFunc(all, func(code string) bool { return code == "" })
}

// declare returns the name of the state with a key, and prints its type if it is
// new. fields prints the fields of the type, one a line.
func (e *emitter) declare(key, wanted, doc string, fields func() string) (name string, fresh bool) {
	name, fresh = e.names.of(key, wanted)
	if fresh {
		e.states[name] = &state{}
		e.stateOrder = append(e.stateOrder, name)
		e.queue = append(e.queue, func() {
			e.states[name].typ = comment(name+doc) + "type " + name + " struct " + block(fields())
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
func (e *emitter) add(state, method, code string) {
	e.states[state].methods[slices.Index(methodOrder[:], method)] = code
}

// addPart prints top, origins or leaves of a state.
func (e *emitter) addPart(state, method, body string) {
	signature := map[string]string{
		"top":     "top() int32",
		"origins": "origins(dst []int, base int) []int",
		"leaves":  "leaves(path string, yield func(string, int) bool) bool",
	}[method]
	e.add(state, method, fmt.Sprintf("func (s *%s) %s %s", state, signature, block(body)))
}

// ifEmpty prints the beginning of top, origins or leaves of a state: a struct, list
// or map in which nothing is set is itself the leaf.
func (e *emitter) ifEmpty(condition, method string) string {
	var leaf string
	switch method {
	case "top":
		leaf = "s.at"
	case "origins":
		leaf = e.addOrigin("s.at")
	case "leaves":
		leaf = e.call("mergeLeaf", "path", `""`, "s.at", "yield")
	}
	return "if " + condition + block("return "+leaf) + "\n"
}

// topOfEntries prints the end of top of a state with entries.
func topOfEntries(top string) string {
	return "var item int32\nfor _, entry := range s.entries " + block("item = max(item, "+top+")") + "\nreturn item"
}

// originsOfEntries prints the end of origins of a state with entries.
func originsOfEntries(origins string) string {
	return "for _, entry := range s.entries " + block("dst = "+origins) + "\nreturn dst"
}

// addOrigin prints dst with an item added.
func (e *emitter) addOrigin(item string) string { return e.call("mergeOrigin", "dst", "base", item) }

// structState returns the name of the state of a struct.
func (e *emitter) structState(s *ir.Struct) string {
	v := s.Value
	name, fresh := e.declare(fmt.Sprintf("state %p", s), lower(v.Ident)+"State", " is the state of merging "+v.Name+"s.", func() string {
		var fields []string
		for _, f := range s.Fields {
			fields = append(fields, f.Name+" "+e.fieldState(f))
		}
		if s.Union {
			fields = append(fields, "closed bool // a lower conf had another "+discriminator(s)+": all below it is ignored")
		}
		return strings.Join(fields, "\n")
	})
	if fresh {
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

// fieldState prints the type that holds the state of a field.
func (e *emitter) fieldState(f ir.Field) string {
	switch rule := f.Rule.(type) {
	case ir.Nested:
		if rule.Pointer {
			return e.slot(rule.Struct)
		}
		return e.structState(rule.Struct)
	case ir.Concat:
		return e.concat() + "[" + e.typ(rule.Elem) + "]"
	case ir.Keyed:
		return e.keyed(rule)
	case ir.Map:
		return e.mapState(rule)
	}
	return "int32"
}

// structFill prints fill of a struct. The method returns how many leaves it has
// set, if the struct can be complete.
//
// The first step of filling a union is that of the discriminator: the highest conf
// determines the type. The merge from the lowest conf drops everything below a conf
// with another type, so the union is closed at that conf.
func (e *emitter) structFill(state string, s *ir.Struct) {
	var fields []string
	counted := s.Leaves != ir.Endless
	for _, f := range s.Fields {
		if fill := fillField(f, counted); fill != "" {
			fields = append(fields, fill)
		}
	}
	e.add(state, "fill", e.expand(`func (s *{{.state}}) fill(v, lower *{{.type}}, item int32) {{if .counted}}(set int){{end}} {
	{{- with .discriminator}}
	switch {
	case s.closed:
		return
	case s.{{.}} == 0:
		v.{{.}}, s.{{.}} = lower.{{.}}, item
	case v.{{.}} != lower.{{.}}:
		s.closed = true
		return
	}
	{{- end}}
	{{- range .fields}}
	{{.}}
	{{- end}}
	{{- if .counted}}
	return set
	{{- end}}
}`, parts{"state": state, "type": e.typ(s.Value), "counted": counted, "discriminator": discriminator(s), "fields": fields}))
}

// fillField prints the statement that fills a field, "" for a discriminator.
func fillField(f ir.Field, counted bool) string {
	here, there, state := "v."+f.Name, "lower."+f.Name, "s."+f.Name
	switch rule := f.Rule.(type) {
	case ir.Replace:
		set := fmt.Sprintf("%s, %s = %s, item", here, state, there)
		if counted {
			set += "\nset++"
		}
		return "if " + state + " == 0" + isSet(rule, there) + block(set)
	case ir.Nested:
		if !rule.Pointer {
			there = "&" + there
		}
		fill := fmt.Sprintf("%s.fill(&%s, %s, item)", state, here, there)
		if counted {
			return "set += " + fill
		}
		return fill
	case ir.Concat, ir.Keyed, ir.Map:
		return fmt.Sprintf("%[1]s = %[2]s.fill(%[1]s, %[3]s, item)", here, state, there)
	}
	return ""
}

// isSet returns the further condition under which a leaf is set in a conf, or "" if
// it is always set.
func isSet(rule ir.Replace, x string) string {
	switch {
	case rule.Set == ir.Always:
		return ""
	case rule.Set == ir.NotNil:
		return " && " + x + " != nil"
	case rule.Zero == "false":
		return " && " + x
	}
	return " && " + x + " != " + rule.Zero
}

func (e *emitter) structTop(s *ir.Struct) {
	name := e.structState(s)
	e.method(name, "top", func() {
		var items []string
		for _, f := range s.Fields {
			item := "s." + f.Name
			if e.part(f, "top") {
				item += ".top()"
			}
			items = append(items, item)
		}
		top := "max(" + strings.Join(items, ", ") + ")"
		if len(items) == 0 {
			top = "0"
		}
		e.addPart(name, "top", "return "+top)
	})
}

func (e *emitter) structOrigins(state string, s *ir.Struct) {
	var body strings.Builder
	for _, f := range s.Fields {
		add := "s." + f.Name + ".origins(dst, base)"
		if !e.part(f, "origins") {
			add = e.addOrigin("s." + f.Name)
		}
		body.WriteString("dst = " + add + "\n")
	}
	e.addPart(state, "origins", body.String()+"return dst")
}

func (e *emitter) structLeaves(s *ir.Struct) {
	name := e.structState(s)
	e.method(name, "leaves", func() {
		var all []string
		for _, f := range s.Fields {
			step := strconv.Quote("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(f.JSON))
			if e.part(f, "leaves") {
				all = append(all, fmt.Sprintf("s.%s.leaves(path + %s, yield)", f.Name, step))
			} else {
				all = append(all, e.call("mergeLeaf", "path", step, "s."+f.Name, "yield"))
			}
		}
		if len(all) == 0 {
			all = []string{"true"}
		}
		e.addPart(name, "leaves", "return "+and(all))
	})
}

// part requests a method of the state of a field. It reports whether the field
// has a state, and is not a leaf with an item.
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
