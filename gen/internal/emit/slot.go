package emit

import (
	"fmt"

	"github.com/meshmatch/meshmatch/gen/internal/ir"
)

// slot returns the name of the state of a pointer to a struct. It contains the
// struct, so that merging it needs no allocation, and the struct's state.
func (e *emitter) slot(s *ir.Struct) string {
	v := s.Value
	name, fresh := e.declare(fmt.Sprintf("slot %p", s), lower(v.Ident)+"Slot",
		" is the state of merging pointers to "+v.Name+"s,\nand contains the result.", func() string {
			return fmt.Sprintf("at int32 // the highest item that has one\nvalue %s\nstate %s", e.typ(v), e.structState(s))
		})
	if fresh {
		e.method(name, "fill", func() { e.slotFill(name, s) })
		e.slotMethod(s, "origins")
	}
	return name
}

func (e *emitter) slotFill(name string, s *ir.Struct) {
	e.add(name, "fill", e.expand(`func (s *{{.name}}) fill(v **{{.type}}, lower *{{.type}}, item int32) {{if .counted}}(set int){{end}} {
	if lower == nil {
		return {{if .counted}}0{{end}}
	}
	if s.at == 0 {
		*v, s.at = &s.value, item
		{{- if .empty}}
		set++ // the presence of the pointer is the only leaf
		{{- end}}
	}
	{{if .counted}}return{{end}} {{if .empty}}set +{{end}} s.state.fill(&s.value, lower, item)
}`, parts{"name": name, "type": e.typ(s.Value), "counted": s.Leaves != ir.Endless, "empty": s.Leaves == 0}))
}

// slotMethod requests top, origins or leaves of a slot. A struct that is present
// with nothing set in it is itself the leaf.
func (e *emitter) slotMethod(s *ir.Struct, method string) {
	name := e.slot(s)
	e.structTop(s)
	if method == "leaves" {
		e.structLeaves(s)
	}
	e.method(name, method, func() {
		call := map[string]string{"top": "top()", "origins": "origins(dst, base)", "leaves": "leaves(path, yield)"}[method]
		e.addPart(name, method, e.ifEmpty("s.state.top() == 0", method)+"return s.state."+call)
	})
}
