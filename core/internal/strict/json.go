package strict

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/meshmatch/meshmatch/core/diag"
)

// looksLikeJSON reports whether the text begins as a JSON object with a field.
func looksLikeJSON(data []byte) bool {
	rest := bytes.TrimLeft(bytes.TrimPrefix(data, []byte("---")), " \t\r\n")
	if len(rest) == 0 || rest[0] != '{' {
		return false
	}
	rest = bytes.TrimLeft(rest[1:], " \t\r\n")
	return len(rest) > 0 && rest[0] == '"'
}

// json yields the documents of a stream of JSON objects. JSON is nearly a
// subset of YAML, but YAML does not allow tabs as indentation, so JSON has its
// own reader. It first checks the syntax and the limits of a whole document,
// so that no value of a document with a syntax error is decoded.
//
// It reports whether it has yielded or reported all documents. If not, the text
// is not JSON, for the returned reason, and may be in YAML's flow style.
func (s *source) json(yield func(*Document) bool) (done bool, bad *syntaxError) {
	r := &s.reader.json
	r.reset(s)
	for first := true; ; first = false {
		if !first && r.onlyComments() {
			return true, nil
		}
		err := r.document()
		switch {
		case errors.Is(err, io.EOF):
			return true, nil
		case err != nil:
			bad = r.syntaxError(err)
			if _, tooLarge := err.(*jsonExcess); !first || tooLarge {
				s.report(bad)
				return true, nil
			}
			return false, bad
		}
		doc := s.reader.document(s.sink)
		r.parts = doc.setText(s.file, s.piece.data, r.lines, r.parts)
		if !yield(doc) {
			return true, nil
		}
	}
}

// jsonReader checks the documents of a JSON text, and finds their parts.
type jsonReader struct {
	data   []byte
	begin  int // of the tokens: the text after a document marker
	lines  *lines
	limits Limits
	tokens jsontext.Decoder // its buffers serve the next text
	parts  []part
	open   []int // the mappings and lists around the next value, outermost first
}

// reset makes the reader read the text of s.
func (r *jsonReader) reset(s *source) {
	r.data, r.lines, r.limits = s.piece.data, s.lines(), s.reader.limits()
	text := bytes.TrimPrefix(r.data, []byte("---"))
	r.begin = len(r.data) - len(text)
	r.tokens.Reset(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true))
}

// jsonExcess is an error for a document beyond the limits.
type jsonExcess struct {
	flaw
	begin int
}

func (e *jsonExcess) Error() string { return e.what }

// The reader reserves space for a part for each eight bytes of text, up to maxRoom
// parts; beyond that, the space grows with the document.
const maxRoom = 1 << 18

// document finds the parts of the next document.
func (r *jsonReader) document() error {
	r.parts, r.open = withRoom(r.parts, min((len(r.data)-r.offset())/8, maxRoom)), r.open[:0]
	for {
		begin := r.next()
		if err := r.excess(begin); err != nil {
			return err
		}
		token, err := r.tokens.ReadToken()
		switch {
		case err == io.EOF && len(r.parts) > 0:
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
		end := r.offset()
		if end > maxFlat {
			return &jsonExcess{flaw{diag.InputTooLarge, fmt.Sprintf("is not in the first %d bytes", maxFlat), "split the file"}, begin}
		}
		r.add(token.Kind(), int32(begin), int32(end))
		if len(r.open) == 0 {
			return nil
		}
	}
}

// excess returns an error if the next token begins a value beyond the limits.
func (r *jsonReader) excess(begin int) error {
	what := ""
	switch {
	case r.tokens.StackDepth() >= r.limits.Depth:
		what = fmt.Sprintf("nested deeper than %d levels", r.limits.Depth)
	case len(r.parts) >= r.limits.Nodes:
		what = fmt.Sprintf("has more than %d values", r.limits.Nodes)
	default:
		return nil
	}
	switch r.tokens.PeekKind() {
	case jsontext.KindInvalid, jsontext.KindEndObject, jsontext.KindEndArray:
		return nil
	}
	return &jsonExcess{flaw{diag.InputTooLarge, what, "split the document"}, begin}
}

// add adds the part that a token begins, or ends the part that it ends.
func (r *jsonReader) add(kind jsontext.Kind, begin, end int32) {
	if kind == jsontext.KindEndObject || kind == jsontext.KindEndArray {
		r.close(end)
		return
	}
	p := part{begin: begin, end: end, parts: 1}
	switch kind {
	case jsontext.KindBeginObject:
		p.kind = Mapping
	case jsontext.KindBeginArray:
		p.kind = List
	case jsontext.KindString:
		p.begin, p.end, p.kind, p.quoted = begin+1, end-1, String, true
		p.escaped = bytes.IndexByte(r.data[p.begin:p.end], '\\') >= 0
	default:
		p.kind = plainKind(r.data[begin:end])
	}
	if p.isContainer() {
		r.open = append(r.open, len(r.parts))
	}
	r.parts = append(r.parts, p)
}

// close ends the innermost mapping or list.
func (r *jsonReader) close(end int32) {
	last := len(r.open) - 1
	first := r.open[last]
	r.parts[first].end, r.parts[first].parts = end, int32(len(r.parts)-first)
	r.open = r.open[:last]
}

// offset returns the end of the latest token.
func (r *jsonReader) offset() int { return r.begin + int(r.tokens.InputOffset()) }

// next returns the beginning of the next token.
func (r *jsonReader) next() int {
	offset := r.offset()
	for offset < len(r.data) && strings.IndexByte(" \t\r\n,:", r.data[offset]) >= 0 {
		offset++
	}
	return offset
}

// onlyComments reports whether only comments or a document end marker follow.
// They belong to YAML and are harmless.
func (r *jsonReader) onlyComments() bool {
	rest := r.data[r.offset():]
	if text := bytes.TrimLeft(rest, " \t\r\n"); len(text) > 0 && text[0] != '#' && text[0] != '.' {
		return false // without a search for the end of the line, which may be far away
	}
	for line := range bytes.Lines(rest) {
		if text := bytes.TrimSpace(line); len(text) > 0 && text[0] != '#' && !isMarker(line, "...") {
			return false
		}
	}
	return true
}

func (r *jsonReader) syntaxError(err error) *syntaxError {
	e := &syntaxError{code: diag.BadSyntax, what: "bad JSON: " + err.Error(), hint: "check commas, quotes and brackets"}
	data := r.data
	offset := len(data)
	var syntax *jsontext.SyntacticError
	var excess *jsonExcess
	switch {
	case errors.As(err, &excess):
		e.code, e.what, e.hint, offset = excess.code, excess.what, excess.hint, excess.begin
	case errors.As(err, &syntax):
		e.what = "bad JSON: " + syntax.Err.Error()
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			offset = min(len(data), r.begin+int(syntax.ByteOffset))
		}
		if after, found := bytes.CutPrefix(data[offset:], []byte(",")); found {
			after = bytes.TrimLeft(after, " \t\r\n")
			if len(after) > 0 && (after[0] == ']' || after[0] == '}') {
				e.what, offset = fmt.Sprintf("bad JSON: %q after a comma", after[0]), len(data)-len(after)
			}
		}
	}
	at := r.lines.locate(data, offset)
	e.line, e.column = at.line, at.column
	return e
}
