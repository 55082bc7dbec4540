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
	jsonScanner
	lines   *lines
	scanned int // the end of the latest document that was scanned
	// The tokens are read from data[skipped:], from the first document on that the scanner
	// does not read.
	tokens  *jsontext.Decoder // nil: all documents so far were scanned
	kept    jsontext.Decoder  // its buffers, for the next text
	skipped int
}

// reset makes the reader read the text of s.
func (r *jsonReader) reset(s *source) {
	r.data, r.lines, r.limits = s.piece.data, s.lines(), s.reader.limits()
	r.skipped = len(r.data) - len(bytes.TrimPrefix(r.data, []byte("---")))
	r.scanned, r.tokens = r.skipped, nil
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
	if r.tokens == nil {
		begin := r.space(r.scanned)
		if begin == len(r.data) {
			return io.EOF
		}
		if end := r.jsonScanner.document(begin); end >= 0 {
			r.scanned = end
			return nil
		}
		r.parts, r.open = r.parts[:0], r.open[:0]
		r.readTokens()
	}
	return r.tokenized()
}

// readTokens makes the reader read tokens, from the end of the latest document. The tokens
// before it are read again, because errors depend on them.
func (r *jsonReader) readTokens() {
	r.tokens = &r.kept
	r.tokens.Reset(bytes.NewBuffer(r.data[r.skipped:]), jsontext.AllowDuplicateNames(true))
	for r.offset() < r.scanned {
		if err := r.tokens.SkipValue(); err != nil {
			panic(fmt.Sprintf("strict: JSON was scanned that is invalid: %v", err))
		}
	}
}

// tokenized finds the parts of a document by its tokens.
func (r *jsonReader) tokenized() error {
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
		r.close(int(end))
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

// offset returns the end of the latest token.
func (r *jsonReader) offset() int {
	if r.tokens == nil {
		return r.scanned
	}
	return r.skipped + int(r.tokens.InputOffset())
}

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
			offset = min(len(data), r.skipped+int(syntax.ByteOffset))
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
