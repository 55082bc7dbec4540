package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"

	"go.yaml.in/yaml/v3"
)

var errNotJSON = errors.New("not JSON")

// parseJSON builds the node trees of a stream of JSON objects. JSON is nearly
// a subset of YAML, but not where tabs indent it, so it has its own reader.
func parseJSON(data []byte) ([]*yaml.Node, error) {
	if trimmed := bytes.TrimLeft(data, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return nil, errNotJSON
	}
	r := &jsonReader{decoder: json.NewDecoder(bytes.NewReader(data)), data: data}
	r.decoder.UseNumber()
	var roots []*yaml.Node
	for {
		node, err := r.value(0)
		if errors.Is(err, io.EOF) {
			return roots, nil
		}
		if err != nil {
			return nil, err
		}
		roots = append(roots, node)
	}
}

type jsonReader struct {
	decoder    *json.Decoder
	data       []byte
	lineStarts []int
}

func (r *jsonReader) value(depth int) (*yaml.Node, error) {
	if depth > 10_000 { // as deep as the YAML parser goes
		return nil, errNotJSON
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
	offset := int(r.decoder.InputOffset())
	for offset < len(r.data) && bytes.IndexByte([]byte(" \t\r\n,:"), r.data[offset]) >= 0 {
		offset++
	}
	if r.lineStarts == nil {
		r.lineStarts = []int{0}
		for i, b := range r.data {
			if b == '\n' {
				r.lineStarts = append(r.lineStarts, i+1)
			}
		}
	}
	line := sort.SearchInts(r.lineStarts, offset+1)
	return &yaml.Node{Line: line, Column: offset - r.lineStarts[line-1] + 1}
}
