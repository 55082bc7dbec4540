package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
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

// json yields the trees of a stream of JSON objects. JSON is nearly a subset
// of YAML, but not where tabs indent it, so it has its own reader. done tells
// that everything was yielded or reported; otherwise the text is no JSON, for
// the reason that is returned, and may still be YAML's flow style.
func (s *source) json(yield func(*yaml.Node) bool) (done bool, bad *syntaxError) {
	data := s.piece.data
	skipped := len(data) - len(bytes.TrimPrefix(data, []byte("---")))
	r := &jsonReader{
		decoder: json.NewDecoder(bytes.NewReader(data[skipped:])), data: data, skipped: skipped,
		line: s.piece.firstLine + 1, limits: s.limits,
	}
	r.decoder.UseNumber()
	for first := true; ; first = false {
		if !first && r.onlyComments() {
			return true, nil
		}
		r.nodes = 0
		node, err := r.value(0)
		switch {
		case errors.Is(err, io.EOF):
			return true, nil
		case err != nil:
			bad = r.syntaxError(err)
			if !first || errors.Is(err, errTooLarge) {
				s.report(bad)
				return true, nil
			}
			return false, bad
		case !yield(node):
			return true, nil
		}
	}
}

type jsonReader struct {
	decoder *json.Decoder // of data[skipped:]
	data    []byte
	skipped int
	limits  Limits
	nodes   int // of this document

	offset, line, column int // of the latest node; column counts from 0
}

var (
	errTooDeep  = errors.New("nested too deep")
	errTooLarge = errors.New("too many values")
)

func (r *jsonReader) value(depth int) (*yaml.Node, error) {
	if r.nodes++; r.nodes > r.limits.Nodes {
		return nil, errTooLarge
	}
	if depth > 10_000 { // as deep as the YAML parser goes
		return nil, errTooDeep
	}
	node := r.place()
	token, err := r.decoder.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		return node, r.collection(node, t, depth)
	case string:
		node.Kind, node.Tag, node.Value, node.Style = yaml.ScalarNode, "!!str", t, yaml.DoubleQuotedStyle
	case json.Number:
		node.Kind, node.Tag, node.Value = yaml.ScalarNode, "!!float", t.String()
		if _, err := t.Int64(); err == nil {
			node.Tag = "!!int"
		}
	case bool:
		node.Kind, node.Tag, node.Value = yaml.ScalarNode, "!!bool", fmt.Sprint(t)
	case nil:
		node.Kind, node.Tag, node.Value = yaml.ScalarNode, "!!null", "null"
	}
	return node, nil
}

func (r *jsonReader) collection(node *yaml.Node, open json.Delim, depth int) error {
	node.Kind, node.Tag = yaml.SequenceNode, "!!seq"
	if open == '{' {
		node.Kind, node.Tag = yaml.MappingNode, "!!map"
	}
	for r.decoder.More() {
		child, err := r.value(depth + 1)
		if err != nil {
			return unexpectedEnd(err)
		}
		node.Content = append(node.Content, child)
	}
	_, err := r.decoder.Token() // the closing delimiter
	return unexpectedEnd(err)
}

// unexpectedEnd keeps the end of input inside of a value from looking like
// the end of the stream.
func unexpectedEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// place returns a node at the start of the next token.
func (r *jsonReader) place() *yaml.Node {
	offset := r.next()
	for offset < len(r.data) && bytes.IndexByte([]byte(" \t\r\n,:"), r.data[offset]) >= 0 {
		offset++
	}
	r.moveTo(offset)
	return &yaml.Node{Line: r.line, Column: r.column + 1}
}

// next is the offset behind the latest token.
func (r *jsonReader) next() int { return r.skipped + int(r.decoder.InputOffset()) }

// moveTo counts lines, and columns in characters, up to an offset that is
// never before the latest one.
func (r *jsonReader) moveTo(offset int) {
	passed := r.data[r.offset:offset]
	if lines := bytes.Count(passed, []byte("\n")); lines > 0 {
		r.line, r.column = r.line+lines, 0
		passed = passed[bytes.LastIndexByte(passed, '\n')+1:]
	}
	r.column += utf8.RuneCount(passed)
	r.offset = offset
}

// onlyComments reports whether nothing but comments or the marker of a
// document's end follows, which are YAML's and do no harm.
func (r *jsonReader) onlyComments() bool {
	for line := range bytes.Lines(r.data[r.next():]) {
		if text := bytes.TrimSpace(line); len(text) > 0 && text[0] != '#' && !isMarker(line, "...") {
			return false
		}
	}
	return true
}

func (r *jsonReader) syntaxError(err error) *syntaxError {
	e := &syntaxError{what: "bad JSON: " + err.Error(), hint: "check commas, quotes and brackets"}
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		// Offset counts from 1 and is of the byte that is wrong.
		r.moveTo(max(r.offset, min(len(r.data), r.skipped+int(syntax.Offset)-1)))
	case errors.Is(err, errTooLarge):
		e.what, e.hint = fmt.Sprintf("has more than %d values", r.limits.Nodes), "split the document"
	case errors.Is(err, errTooDeep):
		e.what, e.hint = fmt.Sprintf("nested deeper than %d levels", r.limits.Depth), "split the document"
	default: // the end of the text
		r.moveTo(len(r.data))
	}
	e.line, e.column = r.line, r.column+1
	return e
}
