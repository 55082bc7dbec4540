package strict

import (
	"iter"
	"slices"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Limits bounds what one file may ask for, so that hostile input is an error
// and not an outage (SPEC 1.2).
type Limits struct {
	Bytes int // of one file
	Depth int // nesting of mappings and lists
	// Nodes is how many values one document may have, with every alias
	// written out. The aliases of a whole chunk may add as many.
	Nodes int
}

// DefaultLimits are generous for hand-written and generated configuration.
var DefaultLimits = Limits{Bytes: 256 << 20, Depth: 100, Nodes: 2_000_000}

// Document is one parsed document of a file. Its tree has no alias nodes that
// lead back to themselves, and is within the limits. It is used by one
// goroutine at a time.
type Document struct {
	file   string
	root   *yaml.Node
	sink   *Sink
	places map[*yaml.Node]map[string]int // of large mappings; see fieldIndex
}

// Root returns the place of the document's top node.
func (d *Document) Root() *At { return &At{doc: d, node: d.root} }

// Documents yields the documents of one of a file's [Chunks], without the
// empty ones, holding the tree of one document at a time. What can not be
// parsed is reported to sink; the documents before and behind it are yielded.
func Documents(file string, chunk Chunk, limits Limits, sink *Sink) iter.Seq[*Document] {
	return func(yield func(*Document) bool) {
		m := measurer{limits: limits}
		for piece := range chunk.documents() {
			if piece.isBlank() {
				continue
			}
			text := source{file: file, piece: piece, limits: limits, sink: sink}
			for root := range text.roots() {
				doc := &Document{file: file, root: root, sink: sink}
				if bad := m.document(root); bad != nil {
					(&At{doc: doc, node: bad.node}).Errorf(bad.hint, "%s", bad.what)
					continue
				}
				if !yield(doc) {
					return
				}
			}
		}
	}
}

// Parse returns all that [Documents] yields.
func Parse(file string, chunk Chunk, limits Limits, sink *Sink) []*Document {
	return slices.Collect(Documents(file, chunk, limits, sink))
}

// source is the text of one document: YAML, or JSON, of which several
// documents may follow one another without a marker.
type source struct {
	file   string
	piece  Chunk
	limits Limits
	sink   *Sink
}

// roots yields the node trees of the text, with positions that count from the
// start of the file.
func (s *source) roots() iter.Seq[*yaml.Node] {
	return func(yield func(*yaml.Node) bool) {
		var bad *syntaxError
		if looksLikeJSON(s.piece.data) && utf8.Valid(s.piece.data) {
			var done bool
			if done, bad = s.json(yield); done {
				return
			}
		}
		if !s.yaml(yield, bad == nil) && bad != nil {
			s.report(bad)
		}
	}
}

// syntaxError is why a text can not be parsed, with its place in the file.
type syntaxError struct {
	line, column int
	what, hint   string
}

func (s *source) report(e *syntaxError) {
	s.sink.Error(Diagnostic{Pos: Position{File: s.file, Line: e.line, Column: e.column}, What: e.what, Hint: e.hint})
}
