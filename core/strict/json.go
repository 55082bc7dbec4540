package strict

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
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
// It reports whether it has yielded or reported everything; otherwise the text
// is not JSON, for the reason that is returned, and may be YAML's flow style.
func (s *source) json(yield func(node) bool) (done bool, bad *syntaxError) {
	r := &s.reader.json
	r.reset(s)
	for first := true; ; first = false {
		if !first && r.onlyComments() {
			return true, nil
		}
		document, err := r.document()
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
		case !yield(document):
			return true, nil
		}
	}
}

// jsonReader checks the documents of a JSON text.
type jsonReader struct {
	text    *jsonText
	strings *localStrings
	decoder jsontext.Decoder // of text.data[skipped:]
	skipped int
	limits  Limits

	containers []container // of the document so far
	open       []int       // those around the next token, outermost first
}

// reset makes the text of s the one that is read.
func (r *jsonReader) reset(s *source) {
	data := s.piece.data
	r.text = &jsonText{file: s.file, data: data, lines: lines{first: s.piece.firstLine + 1}}
	r.strings = s.reader.strings
	r.skipped = len(data) - len(bytes.TrimPrefix(data, []byte("---")))
	r.decoder.Reset(bytes.NewBuffer(data[r.skipped:]), jsontext.AllowDuplicateNames(true))
	r.limits = s.reader.limits()
}

// container is where a mapping or list of a document ends, so that a cursor can
// skip it.
type container struct {
	end    int // offset in the text
	within int // mappings and lists inside of it, at any depth
	parts  int // fields or elements
}

// jsonExcess is an error for a document beyond the limits.
type jsonExcess struct {
	flaw
	begin int
}

func (e *jsonExcess) Error() string { return e.what }

// document reads the tokens of a document.
func (r *jsonReader) document() (*jsonNode, error) {
	root := &jsonNode{text: r.text, strings: r.strings}
	r.containers, r.open = r.containers[:0], r.open[:0]
	for values := 1; ; values++ {
		depth := r.decoder.StackDepth()
		if values > r.limits.Nodes || depth >= r.limits.Depth || values == 1 {
			switch kind := r.decoder.PeekKind(); {
			case kind == jsontext.KindInvalid:
			case values == 1:
				root.begin = r.next()
			case kind == jsontext.KindEndObject, kind == jsontext.KindEndArray:
				values--
			case depth >= r.limits.Depth:
				return nil, &jsonExcess{flaw{fmt.Sprintf("nested deeper than %d levels", r.limits.Depth), "split the document"}, r.next()}
			default:
				return nil, &jsonExcess{flaw{fmt.Sprintf("has more than %d values", r.limits.Nodes), "split the document"}, r.next()}
			}
		}
		token, err := r.decoder.ReadToken()
		switch {
		case err == io.EOF && values > 1:
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		}
		if r.note(token.Kind()) {
			values--
		}
		if len(r.open) == 0 {
			root.containers = slices.Clone(r.containers)
			return root, nil
		}
	}
}

// note adds a token to the containers, and reports whether it ends one.
func (r *jsonReader) note(kind jsontext.Kind) (ends bool) {
	last := len(r.open) - 1
	if kind == jsontext.KindEndObject || kind == jsontext.KindEndArray {
		first := r.open[last]
		ended := &r.containers[first]
		ended.end, ended.within = r.offset(), len(r.containers)-first-1
		if kind == jsontext.KindEndObject {
			ended.parts /= 2 // of the tokens, half are names
		}
		r.open = r.open[:last]
		return true
	}
	if last >= 0 {
		r.containers[r.open[last]].parts++
	}
	if kind == jsontext.KindBeginObject || kind == jsontext.KindBeginArray {
		r.open = append(r.open, len(r.containers))
		r.containers = append(r.containers, container{})
	}
	return false
}

// offset returns the end of the latest token.
func (r *jsonReader) offset() int { return r.skipped + int(r.decoder.InputOffset()) }

// next returns the beginning of the next token.
func (r *jsonReader) next() int {
	offset := r.offset()
	for offset < len(r.text.data) && bytes.IndexByte([]byte(" \t\r\n,:"), r.text.data[offset]) >= 0 {
		offset++
	}
	return offset
}

// onlyComments reports whether nothing but comments or the marker of a
// document's end follows, which belong to YAML and do no harm.
func (r *jsonReader) onlyComments() bool {
	rest := r.text.data[r.offset():]
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
	e := &syntaxError{what: "bad JSON: " + err.Error(), hint: "check commas, quotes and brackets"}
	data := r.text.data
	offset := len(data)
	var syntax *jsontext.SyntacticError
	var excess *jsonExcess
	switch {
	case errors.As(err, &excess):
		e.what, e.hint, offset = excess.what, excess.hint, excess.begin
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
	e.line, e.column = r.text.locate(data, offset)
	return e
}
