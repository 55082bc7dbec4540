package emit

import (
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/gen/internal/ir"
)

// equal prints the comparison of two expressions of type v. Those of structs
// are addressable.
func (e *emitter) equal(v *ir.Value, a, b string) string {
	if v.Flat {
		return a + " == " + b
	}
	name := e.function("equal", v, func(name string) { e.equalFunction(name, v) })
	return fmt.Sprintf("%s(%s, %s)", name, arg(v, a), arg(v, b))
}

func (e *emitter) equalFunction(name string, v *ir.Value) {
	const sameLength = `if len(a) != len(b) || (a == nil) != (b == nil) {
		return false
	}
	`
	var body string
	switch v.Kind {
	case ir.Opaque:
		body = "return a.Equal(*b)"
		if v.Methods.EqualPointer {
			body = "return a.Equal(b)"
		}
	case ir.StructKind:
		body = "return " + e.equalFields(v)
	case ir.Pointer:
		body = "return a == b || a != nil && b != nil && " + e.equal(v.Elem, "*a", "*b")
	case ir.List:
		body = sameLength + `for i := range a {
			if ` + e.different(v.Elem, "a[i]", "b[i]") + ` {
				return false
			}
		}
		return true`
	case ir.MapKind:
		body = sameLength + `for k, x := range a {
			if y, ok := b[k]; !ok || ` + e.different(v.Elem, "x", "y") + ` {
				return false
			}
		}
		return true`
	}
	e.equals = append(e.equals, fmt.Sprintf("func %s(a, b %s) bool %s", name, e.param(v), block(body)))
}

func (e *emitter) different(v *ir.Value, a, b string) string {
	if v.Flat {
		return a + " != " + b
	}
	return "!" + e.equal(v, a, b)
}

// equalFields compares the fields of the structs a and b.
func (e *emitter) equalFields(v *ir.Value) string {
	fields := make([]string, len(v.Fields))
	for i, f := range v.Fields {
		fields[i] = e.equal(f.Value, "a."+f.Name, "b."+f.Name)
	}
	return and(fields)
}

// and joins conditions, one a line.
func and(conditions []string) string { return strings.Join(conditions, " &&\n") }
