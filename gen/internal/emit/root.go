package emit

import (
	"github.com/meshmatch/meshmatch/gen/internal/ir"
)

// root prints the methods of a root type and its merger.
func (e *emitter) root(root *ir.Root) {
	v := root.Value
	parts := parts{"name": v.Name, "merger": v.Name + "Merger", "leaves": root.Struct.Leaves, "counted": root.Struct.Leaves != ir.Endless}
	add := func(text string) { e.roots = append(e.roots, e.expand(text, parts)) }

	parts["equal"] = e.equal(v, "*c", "*o")
	add(`// Equal reports whether c and o have the same content. Nil (not set) and empty
// lists and maps differ. Nil equals nil only.
func (c *{{.name}}) Equal(o *{{.name}}) bool {
	return c == o || c != nil && o != nil && {{.equal}}
}`)
	if root.Hash {
		parts["hash"] = digest(e.hash(v, "&d", "*c"))
		add(`// Hash returns a hash of the content of c, which must not be nil. Equal confs
// have equal hashes, on every replica.
func (c *{{.name}}) Hash() uint64 {
	{{.hash}}
}`)
	}
	if root.Clone {
		parts["clone"] = e.clone(v, "*d", "*c")
		add(`// Clone returns a deep copy of c, which shares nothing with it.
func (c *{{.name}}) Clone() *{{.name}} {
	if c == nil {
		return nil
	}
	d := new({{.name}})
	{{.clone}}
	return d
}`)
	}

	parts["state"] = e.structState(root.Struct)
	add(`// {{.merger}} merges {{.name}}s, filled from the highest priority to the lowest. Its
// zero value is ready. It holds the merged conf with all its structs, and for each
// leaf 1 + the item that set it (0: not set). It must not be copied.
type {{.merger}} struct {
	conf  {{.name}}
	state {{.state}}
	{{- if .counted}}
	set   int // leaves that are set
	{{- end}}
}

// Fill sets what lower sets and no {{.name}} before it has set. Confs are filled in
// descending priority; item is the number of this one, larger for a higher
// priority, from 0 to 1<<31 - 2. {{if .counted -}}
	It reports whether a lower conf can no longer set anything.
	{{- else -}}
	It is never complete: a lower conf can always add something.
	{{- end}}
func (m *{{.merger}}) Fill(lower *{{.name}}, item int) (complete bool) {
	{{if .counted}}m.set += {{end}}m.state.fill(&m.conf, lower, int32(item)+1)
	return {{if .counted}}m.set == {{.leaves}}{{else}}false{{end}}
}

// Conf returns the merged conf. It points into m, which must not be filled
// afterwards, and shares scalars and replaced lists with the confs that were merged.
func (m *{{.merger}}) Conf() *{{.name}} {
	return &m.conf
}

// Origins appends to dst the items that set at least one leaf of the merged conf,
// each once, ascending. It allocates nothing if dst has room.
func (m *{{.merger}}) Origins(dst []int) []int {
	return m.state.origins(dst, len(dst))
}`)
	if hasUnion(root.Struct) {
		add(`// HasUnion marks a type with a union: an item that sets no leaf can change the
// result, because a union of another type in it hides that of lower items.
func (m *{{.merger}}) HasUnion() {}`)
	}
	e.structLeaves(root.Struct)
	add(`// Leaves iterates over the leaves of the merged conf in the order of the fields: the
// JSON pointer (RFC 6901) and the item that set it.
func (m *{{.merger}}) Leaves() {{qual "iter" "Seq2"}}[string, int] {
	return func(yield func(string, int) bool) {
		m.state.leaves("", yield)
	}
}`)
}
