package strict

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"
)

// yaml yields the trees of a YAML text. It reports whether the text was
// parsed to its end; if not, it tells why where it is asked to.
func (s *source) yaml(yield func(*yaml.Node) bool, tell bool) (whole bool) {
	bad := s.tooManyNodes()
	if bad == nil {
		bad = s.parseYAML(yield)
	}
	if bad != nil && tell {
		s.report(bad)
	}
	return bad == nil
}

// tooManyNodes refuses a text that could become a much larger tree than is
// allowed before there is one: a node takes a hundred times the space of its
// text. Apart from the root, each node needs one of these bytes, or half of a
// comma or question mark: {a, b} is two fields with nothing in them.
func (s *source) tooManyNodes() *syntaxError {
	most := 1
	for _, c := range s.piece.data {
		switch c {
		case ':', '\n', '-', '[', '{':
			most++
		case ',', '?':
			most += 2
		}
	}
	if most/3 <= s.limits.Nodes/2 {
		return nil
	}
	return &syntaxError{
		line: s.piece.firstLine + 1, column: 1,
		what: fmt.Sprintf("the document is too large: it may have more than %d values", s.limits.Nodes), hint: "split the document",
	}
}

func (s *source) parseYAML(yield func(*yaml.Node) bool) *syntaxError {
	decoder := yaml.NewDecoder(bytes.NewReader(accepted(s.piece.data)))
	for {
		root, err := nextRoot(decoder)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return s.yamlError(err)
		case root == nil:
			continue
		}
		if s.piece.firstLine > 0 {
			shift(root, s.piece.firstLine)
		}
		if !yield(root) {
			return nil
		}
	}
}

// nextRoot returns the next document's tree, nil for one with nothing in it.
func nextRoot(decoder *yaml.Decoder) (root *yaml.Node, err error) {
	// The parser reports some malformed input by panicking with a private
	// type that its own entry points recover; what is left is a bug in it,
	// which must not take the process down.
	defer func() {
		if bug := recover(); bug != nil {
			err = fmt.Errorf("%v", bug)
		}
	}()
	var doc yaml.Node
	if err := decoder.Decode(&doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 || isEmpty(doc.Content[0]) {
		return nil, nil
	}
	return doc.Content[0], nil
}

var directive12 = regexp.MustCompile(`^(?:[ \t]*(?:#.*)?\r?\n)*%YAML[ \t]+1\.([2-9])`)

// accepted lets a document say that it is YAML 1.2, whose difference to 1.1
// the parser leaves to its caller.
func accepted(data []byte) []byte {
	if m := directive12.FindSubmatchIndex(data); m != nil {
		data = slices.Clone(data)
		data[m[2]] = '1'
	}
	return data
}

// isEmpty reports whether the document has nothing but comments.
func isEmpty(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" && n.Value == ""
}

func shift(n *yaml.Node, lines int) {
	n.Line += lines
	for _, c := range n.Content {
		shift(c, lines)
	}
}
