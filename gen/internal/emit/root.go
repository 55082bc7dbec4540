package emit

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/meshmatch/meshmatch/gen/internal/ir"
)

// root prints the methods of a root type, and its merger.
func (e *emitter) root(root *ir.Root) {
	v := root.Value
	name := v.Name
	c := func() *jen.Statement { return jen.Id("c").Op("*").Id(name) }
	add := func(doc string, code jen.Code) {
		e.roots = append(e.roots, comment(doc).Add(code))
	}

	add("Equal reports whether c and o have the same content. Nil (not set) and empty\n"+
		"lists and maps differ. Nil equals nil only.",
		jen.Func().Params(c()).Id("Equal").Params(jen.Id("o").Op("*").Id(name)).Bool().Block(
			jen.Return(jen.Id("c == o || c != nil && o != nil &&").Add(e.equal(v, "*c", "*o")))))

	if root.Hash {
		add("Hash returns a hash of the content of c, which must not be nil. Equal confs\nhave equal hashes, on every replica.",
			jen.Func().Params(c()).Id("Hash").Params().Uint64().Block(digest(e.hash(v, "&d", "*c"))...))
	}
	if root.Clone {
		add("Clone returns a deep copy of c, which shares nothing with it.",
			jen.Func().Params(c()).Id("Clone").Params().Op("*").Id(name).Block(
				jen.If(jen.Id("c == nil")).Block(jen.Return(jen.Nil())),
				jen.Id("d").Op(":=").New(jen.Id(name)),
				e.clone(v, "*d", "*c"),
				jen.Return(jen.Id("d"))))
	}
	e.merger(root, add)
}

// merger prints the merger of a root type. Add prints a declaration.
func (e *emitter) merger(root *ir.Root, add func(doc string, code jen.Code)) {
	name, merger := root.Value.Name, root.Merger()
	m := func() *jen.Statement { return jen.Func().Params(jen.Id("m").Op("*").Id(merger)) }
	state := e.structState(root.Struct)
	add(fmt.Sprintf("%s merges %ss, filled from the highest priority to the lowest. Its\n"+
		"zero value is ready to use. It contains the merged conf with all its structs,\n"+
		"and for each leaf 1 + the item that set it (0: not set). It must not be copied.", merger, name),
		jen.Type().Id(merger).StructFunc(func(g *jen.Group) {
			g.Id("conf").Id(name)
			g.Id("state").Id(state)
			if root.Struct.Leaves != ir.Endless {
				g.Id("set").Int().Comment("leaves that are set")
			}
		}))

	add(e.fillComment(root.Struct, name),
		m().Id("Fill").Params(jen.Id("lower").Op("*").Id(name), jen.Id("item").Int()).
			Params(jen.Id("complete").Bool()).Block(e.rootFill(root.Struct)...))

	add("Conf returns the merged conf. It points into m, which must not be filled\n"+
		"afterwards, and shares scalars and replaced lists with the confs that were merged.",
		m().Id("Conf").Params().Op("*").Id(name).Block(jen.Return(jen.Id("&m.conf"))))

	add("Origins appends to dst the items that set at least one leaf of the merged conf,\n"+
		"each once, ascending. It allocates nothing if the capacity of dst is sufficient.",
		m().Id("Origins").Params(jen.Id("dst").Index().Int()).Index().Int().Block(
			jen.Return(jen.Id("m.state.Origins(dst, len(dst))"))))

	if hasUnion(root.Struct) {
		add("HasUnion marks a type with a union: an item that sets no leaf can change the\nresult, because a union of another type in it hides the union of lower items.",
			m().Id("HasUnion").Params().Block())
	}

	add("Leaves iterates over the leaves of the merged conf in the order of the fields: the\n"+
		"JSON pointer (RFC 6901) and the item that set it.",
		m().Id("Leaves").Params().Qual("iter", "Seq2").Types(jen.String(), jen.Int()).Block(
			jen.Return(jen.Func().Params(yieldParam()).Block(jen.Id(`m.state.Leaves("", yield)`)))))
}

func (e *emitter) fillComment(s *ir.Struct, name string) string {
	doc := fmt.Sprintf("Fill sets the leaves of lower that no previous %s has set. Confs are filled in\n"+
		"descending priority; item is the number of lower, larger for a higher priority,\nfrom 0 to 1<<31 - 2. ", name)
	if s.Leaves == ir.Endless {
		return doc + "It never reports true: a lower conf can always add a leaf."
	}
	return doc + "It reports whether a lower conf can no longer set a leaf."
}

func (e *emitter) rootFill(s *ir.Struct) []jen.Code {
	if s.Leaves == ir.Endless {
		return []jen.Code{jen.Id("m.state.Fill(&m.conf, lower, int32(item)+1)"), jen.Return(jen.False())}
	}
	return []jen.Code{
		jen.Id("m.set += m.state.Fill(&m.conf, lower, int32(item)+1)"),
		jen.Return(jen.Id("m.set").Op("==").Lit(s.Leaves)),
	}
}

func yieldParam() *jen.Statement {
	return jen.Id("yield").Func().Params(jen.String(), jen.Int()).Bool()
}
