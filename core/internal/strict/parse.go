package strict

import (
	"cmp"
	"fmt"
	"iter"
	"unicode/utf8"

	"github.com/meshmatch/meshmatch/core/diag"
)

// Limits bound the memory and time that a file takes, so that a hostile file
// causes an error and not an outage (SPEC 1.2).
type Limits struct {
	Bytes int // of one file
	Depth int // nesting of mappings and lists
	// Nodes is the maximum number of values and names in a document, with every
	// alias expanded. All aliases of a chunk together may add this number
	// again, and 4 MiB of text.
	Nodes int
}

// DefaultLimits are sufficient for hand-written and generated configuration.
var DefaultLimits = Limits{Bytes: 256 << 20, Depth: 100, Nodes: 2_000_000}

// Reader reads the documents of files. Only one goroutine may use a reader and
// its documents. The readers of one load share Strings.
type Reader struct {
	Limits  Limits   // zero: [DefaultLimits]
	Strings *Strings // nil: the reader has its own

	strings  *localStrings
	decoders []*decoder  // decoders that are not in use
	released []*Document // documents that are not in use
	json     jsonReader
	block    blockReader
}

// newReader returns a reader that reads the text of one value.
func newReader() *Reader { return &Reader{strings: &localStrings{shared: &Strings{}}} }

func (r *Reader) init() {
	if r.strings == nil {
		if r.Strings == nil {
			r.Strings = &Strings{}
		}
		r.strings = &localStrings{shared: r.Strings, recent: new([recentStrings]string)}
	}
}

func (r *Reader) limits() Limits { return cmp.Or(r.Limits, DefaultLimits) }

// Documents yields the non-empty documents of one of a file's [Chunks]. It
// reports a document that cannot be parsed to sink, and yields the documents
// before and after it.
func (r *Reader) Documents(file string, chunk Chunk, sink *diag.Sink) iter.Seq[*Document] {
	r.init()
	return func(yield func(*Document) bool) {
		m := measurer{limits: r.limits()}
		for piece := range chunk.documents() {
			if piece.isBlank() {
				continue
			}
			text := source{reader: r, measurer: &m, file: file, piece: piece, sink: sink}
			if !text.documents(yield) {
				return
			}
		}
	}
}

// Documents is [Reader.Documents] with a new reader. A text that is shorter than a reader's
// recent strings does without them.
func Documents(file string, chunk Chunk, limits Limits, sink *diag.Sink) iter.Seq[*Document] {
	r := &Reader{}
	if len(chunk.data) < recentStrings {
		r = newReader()
	}
	r.Limits = limits
	return r.Documents(file, chunk, sink)
}

// source is the text of one YAML document, or of successive JSON documents
// without markers between them.
type source struct {
	reader   *Reader
	measurer *measurer
	file     string
	piece    Chunk
	sink     *diag.Sink
}

// documents yields the documents of the text, and reports whether yield accepted
// all of them. A panic of a reader becomes an error of this text, so that one file
// does not terminate the process; a panic of yield is not recovered.
func (s *source) documents(yield func(*Document) bool) (all bool) {
	yielding := false
	defer func() {
		if yielding {
			return
		}
		if fault := recover(); fault != nil {
			s.report(&syntaxError{
				line: s.piece.firstLine + 1, column: 1, code: diag.InternalFault,
				what: fmt.Sprintf("the document cannot be read: internal error: %v", fault), hint: "report this with the document",
			})
			all = true
		}
	}()
	all = true
	s.read(func(doc *Document) bool {
		yielding = true
		all = yield(doc)
		yielding = false
		return all
	})
	return all
}

// read yields the documents of the text, in the language that it has.
func (s *source) read(yield func(*Document) bool) {
	var bad *syntaxError
	if looksLikeJSON(s.piece.data) && utf8.Valid(s.piece.data) {
		var done bool
		if done, bad = s.json(yield); done {
			return
		}
		if s.piece.afterJSON {
			s.report(bad)
			return
		}
	}
	if !s.yaml(yield, bad == nil) && bad != nil {
		s.report(bad)
	}
}

// lines returns the lines of the text.
func (s *source) lines() *lines { return &lines{first: s.piece.firstLine + 1} }

// syntaxError is an error of a text that cannot be parsed.
type syntaxError struct {
	line, column int
	code         diag.Code
	what, hint   string
}

func (s *source) report(e *syntaxError) {
	s.sink.Error(diag.Diagnostic{Code: e.code, Pos: diag.Position{File: s.file, Line: e.line, Column: e.column}, What: e.what, Hint: e.hint})
}
