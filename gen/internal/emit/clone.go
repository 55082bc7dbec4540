package emit

import (
	"fmt"

	"github.com/meshmatch/meshmatch/gen/internal/ir"
)

// clone prints the statement that makes dst a deep copy of src, both
// expressions of type v. Those of structs are addressable.
func (e *emitter) clone(v *ir.Value, dst, src string) string {
	switch {
	case v.Flat:
		return dst + " = " + src
	case byPointer(v):
		name := e.function("copy", v, func(name string) { e.copyFunction(name, v) })
		return fmt.Sprintf("%s(%s, %s)", name, arg(v, dst), arg(v, src))
	}
	name := e.function("clone", v, func(name string) { e.cloneFunction(name, v) })
	return fmt.Sprintf("%s = %s(%s)", dst, name, src)
}

// copyFunction prints the function that makes the struct dst a deep copy of
// src.
func (e *emitter) copyFunction(name string, v *ir.Value) {
	body := "*dst = *src"
	switch {
	case v.Kind == ir.Opaque && v.Methods.ClonePointer:
		body = "*dst = *src.Clone()"
	case v.Kind == ir.Opaque:
		body = "*dst = src.Clone()"
	}
	for _, f := range v.Fields {
		if !f.Value.Flat {
			body += "\n" + e.clone(f.Value, "dst."+f.Name, "src."+f.Name)
		}
	}
	e.clones = append(e.clones, fmt.Sprintf("func %s(dst, src *%s) %s", name, e.typ(v), block(body)))
}

func (e *emitter) cloneFunction(name string, v *ir.Value) {
	var body string
	switch v.Kind {
	case ir.Pointer:
		body = fmt.Sprintf("c := new(%s)\n%s", e.typ(v.Elem), e.clone(v.Elem, "*c", "*v"))
	case ir.List:
		body = fmt.Sprintf("c := make(%s, len(v))\n", e.typ(v))
		if v.Elem.Flat {
			body += "copy(c, v)"
		} else {
			body += "for i := range v " + block(e.clone(v.Elem, "c[i]", "v[i]"))
		}
	case ir.MapKind:
		entry := "c[k] = x"
		if !v.Elem.Flat {
			entry = fmt.Sprintf("var y %s\n%s\nc[k] = y", e.typ(v.Elem), e.clone(v.Elem, "y", "x"))
		}
		body = fmt.Sprintf("c := make(%s, len(v))\nfor k, x := range v %s", e.typ(v), block(entry))
	}
	e.clones = append(e.clones, fmt.Sprintf("func %[1]s(v %[2]s) %[2]s {\nif v == nil {\nreturn nil\n}\n%[3]s\nreturn c\n}", name, e.typ(v), body))
}
