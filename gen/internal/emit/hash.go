package emit

import (
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/gen/internal/ir"
)

// hash prints the statement that writes the expression x of type v to a
// digest.
func (e *emitter) hash(v *ir.Value, digest, x string) string {
	switch v.Kind {
	case ir.Bool:
		return e.call("hashBool", digest, convert(v, "bool", x))
	case ir.Int, ir.Uint:
		return e.call("hashWord", digest, "uint64("+x+")")
	case ir.Float:
		return e.call("hashFloat", digest, convert(v, "float64", x))
	case ir.String:
		return e.call("hashString", digest, convert(v, "string", x))
	}
	name := e.function("hash", v, func(name string) { e.hashFunction(name, v) })
	return fmt.Sprintf("%s(%s, %s)", name, digest, arg(v, x))
}

// convert prints the conversion of a scalar, if it is needed.
func convert(v *ir.Value, to, x string) string {
	if v.Pkg == "" && v.Name == to {
		return x
	}
	return to + "(" + x + ")"
}

func (e *emitter) hashFunction(name string, v *ir.Value) {
	word := e.supportName("hashWord")
	absent := "if v == nil {\n" + word + "(d, 0)\nreturn\n}\n"
	size := word + "(d, uint64(len(v)) + 1)\n"
	var body string
	switch v.Kind {
	case ir.Opaque:
		body = word + "(d, v.Hash())"
	case ir.StructKind:
		fields := make([]string, len(v.Fields))
		for i, f := range v.Fields {
			fields[i] = e.hash(f.Value, "d", "v."+f.Name)
		}
		body = strings.Join(fields, "\n")
	case ir.Pointer:
		body = absent + word + "(d, 1)\n" + e.hash(v.Elem, "d", "*v")
	case ir.List:
		body = absent + size + "for i := range v " + block(e.hash(v.Elem, "d", "v[i]"))
	case ir.MapKind:
		body = absent + `// Entries are added up, so that their order does not matter.
			var sum uint64
			for k, x := range v {
				` + newDigest("entry") + e.hash(v.Key, "&entry", "k") + `
				` + e.hash(v.Elem, "&entry", "x") + `
				sum += entry.Sum64()
			}
			` + size + word + "(d, sum)"
	}
	e.hashes = append(e.hashes, fmt.Sprintf("func %s(d *%s, v %s) %s", name, qual(xxhash, "Digest"), e.param(v), block(body)))
}

// newDigest prints the declaration of a digest.
func newDigest(name string) string {
	return fmt.Sprintf("var %[1]s %[2]s\n%[1]s.Reset()\n", name, qual(xxhash, "Digest"))
}

// digest prints the statements that hash something and return the sum.
func digest(write ...string) string {
	return newDigest("d") + strings.Join(append(write, "return d.Sum64()"), "\n")
}
