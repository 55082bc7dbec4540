package strict

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

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

func (s *source) parseYAML(yield func(*yaml.Node) bool) (bad *syntaxError) {
	// The parser reports some malformed input by panicking with a private
	// type that its own entry points recover; what is left is a bug in it,
	// which must not take the process down.
	parsing := true
	defer func() {
		if parsing {
			bad = s.yamlError(fmt.Errorf("%v", recover()))
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(accepted(s.piece.data)))
	for {
		var doc yaml.Node
		err := decoder.Decode(&doc)
		if errors.Is(err, io.EOF) {
			parsing = false
			return nil
		}
		if err != nil {
			parsing = false
			return s.yamlError(err)
		}
		if len(doc.Content) == 0 || isEmpty(doc.Content[0]) {
			continue
		}
		if s.piece.firstLine > 0 {
			shift(doc.Content[0], s.piece.firstLine)
		}
		parsing = false
		if !yield(doc.Content[0]) {
			return nil
		}
		parsing = true
	}
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

var yamlLine = regexp.MustCompile(`line (\d+): `)

// yamlError finds the place of an error, which the parser tells by its line or
// not at all.
func (s *source) yamlError(err error) *syntaxError {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	e := &syntaxError{line: 1, column: 1, hint: "check indentation and quotes"}
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		e.line, _ = strconv.Atoi(m[1])
		text = strings.Replace(text, m[0], "", 1)
		if isParserProblem(text) {
			// The parser counts its own lines from 0, its scanner's from 1, and
			// the end of the text as a line of its own.
			e.line = min(e.line+1, 1+bytes.Count(bytes.TrimRight(s.piece.data, "\r\n"), []byte("\n")))
		}
	} else if i := unreadable(s.piece.data); i >= 0 {
		before := s.piece.data[:i]
		e.line += bytes.Count(before, []byte("\n"))
		e.column += utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
		e.hint = "write it as an escape in quotes, or save the file as UTF-8"
	}
	e.line += s.piece.firstLine
	e.what = "bad YAML: " + text
	return e
}

// isParserProblem knows the messages of the parser from those of its scanner.
func isParserProblem(text string) bool {
	return slices.Contains([]string{
		"did not find expected <document start>", "did not find expected node content", "found undefined tag handle",
		"did not find expected '-' indicator", "did not find expected key", "did not find expected ',' or ']'",
		"did not find expected ',' or '}'",
	}, text)
}

// unreadable returns the offset of the first byte that is no UTF-8 or a
// control character that YAML does not allow, or -1.
func unreadable(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && size == 1,
			r < ' ' && r != '\t' && r != '\n' && r != '\r',
			r >= 0x7f && r < 0xa0 && r != 0x85:
			return i
		}
		i += size
	}
	return -1
}
