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

// yaml yields the documents of a YAML text. It returns whether the text was
// parsed to its end. If not, and report is true, it reports the reason.
func (s *source) yaml(yield func(*Document) bool, report bool) (whole bool) {
	bad := s.tooManyNodes()
	if bad == nil {
		if doc := s.block(); doc != nil {
			yield(doc)
			return true
		}
		bad = s.parseYAML(yield)
	}
	if bad != nil && report {
		s.report(bad)
	}
	return bad == nil
}

// tooManyNodes refuses a text whose tree could be much larger than allowed,
// before the tree is made: a node takes a hundred times the space of its text.
// Apart from the root, each node needs one of the counted bytes, or half of a
// comma or question mark: {a, b} has two fields without values.
func (s *source) tooManyNodes() *syntaxError {
	if len(s.piece.data) <= s.reader.limits().Nodes/2 {
		return nil
	}
	most := 1
	for _, c := range s.piece.data {
		switch c {
		case ':', '\n', '-', '[', '{':
			most++
		case ',', '?':
			most += 2
		}
	}
	if most/3 <= s.reader.limits().Nodes/2 {
		return nil
	}
	return &syntaxError{
		line: s.piece.firstLine + 1, column: 1,
		what: fmt.Sprintf("the document is too large: it may have more than %d values", s.reader.limits().Nodes), hint: "split the document",
	}
}

func (s *source) parseYAML(yield func(*Document) bool) *syntaxError {
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
		if bad := s.measurer.document(root); bad != nil {
			s.report(&syntaxError{line: bad.node.Line, column: bad.node.Column, code: bad.code, what: bad.what, hint: bad.hint})
			continue
		}
		doc := s.reader.document(s.sink)
		doc.setText(s.file, nil, nil, nil)
		doc.addNode(root, false)
		if !yield(doc) {
			return nil
		}
	}
}

// nextRoot returns the tree of the next document, or nil for an empty document.
func nextRoot(decoder *yaml.Decoder) (root *yaml.Node, err error) {
	// The parser reports some malformed input by a panic that its own functions
	// recover. Any other panic is a fault of the parser, which must not
	// terminate the process.
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

// accepted changes the directive of YAML 1.2 to the directive of YAML 1.1, the
// only one that the parser accepts. The scalar types of YAML 1.1 are not used;
// see [plainKind].
func accepted(data []byte) []byte {
	if m := directive12.FindSubmatchIndex(data); m != nil {
		data = slices.Clone(data)
		data[m[2]] = '1'
	}
	return data
}

// isEmpty reports whether the document has only comments.
func isEmpty(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" && n.Value == ""
}

func shift(n *yaml.Node, lines int) {
	n.Line += lines
	for _, c := range n.Content {
		shift(c, lines)
	}
}
