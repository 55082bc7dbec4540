package strict

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// Limits bounds what one file may ask for, so that hostile input is an error
// and not an outage (SPEC 1.2).
type Limits struct {
	Bytes int // of one file
	Depth int // nesting of mappings and lists
	Nodes int // of one document, with every alias written out
}

// DefaultLimits are generous for hand-written and generated configuration.
var DefaultLimits = Limits{Bytes: 256 << 20, Depth: 100, Nodes: 2_000_000}

// Document is one parsed document of a file. Its tree has no alias nodes that
// lead back to themselves, and is within the limits.
type Document struct {
	file string
	root *yaml.Node
	sink *Sink
}

// Root returns the place of the document's top node.
func (d *Document) Root() *At { return &At{doc: d, node: d.root} }

// Chunk is a run of whole documents of one file, to be parsed by itself.
type Chunk struct {
	data      []byte
	firstLine int // lines before the chunk
}

var documentStart = regexp.MustCompile(`(?m)^---(?:[ \t\r\n]|$)`)

// Chunks cuts a file at its document markers into about n pieces of similar
// size that can be parsed in parallel. YAML forbids a marker at the start of
// a line inside of any scalar, so a cut never falls into a document.
func Chunks(data []byte, n int) []Chunk {
	starts := documentStart.FindAllIndex(data, -1)
	if n <= 1 || len(starts) < 2 || directive.Match(data) {
		return []Chunk{{data: data}}
	}
	var chunks []Chunk
	begin, line := 0, 0
	for i := 1; i < n; i++ {
		want := len(data) * i / n
		for len(starts) > 0 && starts[0][0] < want {
			starts = starts[1:]
		}
		if len(starts) == 0 || starts[0][0] <= begin {
			continue
		}
		cut := starts[0][0]
		chunks = append(chunks, Chunk{data: data[begin:cut], firstLine: line})
		line += bytes.Count(data[begin:cut], []byte("\n"))
		begin = cut
	}
	return append(chunks, Chunk{data: data[begin:], firstLine: line})
}

// A directive (%YAML, %TAG) stands before the marker of the document that it
// is for, so such files are parsed in one piece.
var directive = regexp.MustCompile(`(?m)^%`)

// Parse returns the documents of one of a file's [Chunks], without the empty
// ones. What can not be parsed is reported to sink; the documents before it
// are returned.
func Parse(file string, chunk Chunk, limits Limits, sink *Sink) []*Document {
	if roots, err := parseJSON(chunk.data); err == nil {
		return accept(file, roots, limits, sink)
	}
	roots, err := parseYAML(chunk.data, chunk.firstLine)
	if err != nil {
		sink.Error(Diagnostic{Pos: yamlErrorPosition(file, err, chunk.firstLine), What: yamlErrorText(err), Hint: "check indentation and quotes"})
	}
	return accept(file, roots, limits, sink)
}

func parseYAML(data []byte, firstLine int) (roots []*yaml.Node, err error) {
	// The parser reports some malformed input by panicking with a private
	// type that its own entry points recover; what is left is a bug in it,
	// which must not take the process down.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: %v", r)
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var doc yaml.Node
		switch err := decoder.Decode(&doc); {
		case errors.Is(err, io.EOF):
			return roots, nil
		case err != nil:
			return roots, err
		}
		if len(doc.Content) == 0 || isEmpty(doc.Content[0]) {
			continue
		}
		if firstLine > 0 {
			shift(doc.Content[0], firstLine)
		}
		roots = append(roots, doc.Content[0])
	}
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

func accept(file string, roots []*yaml.Node, limits Limits, sink *Sink) []*Document {
	docs := make([]*Document, 0, len(roots))
	for _, root := range roots {
		doc := &Document{file: file, root: root, sink: sink}
		m := measurer{limits: limits, sizes: map[*yaml.Node]int{}}
		if _, bad := m.measure(root, 1); bad != nil {
			(&At{doc: doc, node: bad.node}).Errorf("split the document", "%s", bad.what)
			continue
		}
		docs = append(docs, doc)
	}
	return docs
}

// measurer counts the nodes of a document as if every alias were written out.
type measurer struct {
	limits Limits
	sizes  map[*yaml.Node]int // of anchored nodes; -1 while they are measured
}

type excess struct {
	node *yaml.Node
	what string
}

func (m *measurer) measure(n *yaml.Node, depth int) (int, *excess) {
	if depth > m.limits.Depth {
		return 0, &excess{n, fmt.Sprintf("nested deeper than %d levels", m.limits.Depth)}
	}
	if n.Kind == yaml.AliasNode {
		size, done := m.sizes[n.Alias]
		switch {
		case !done:
			return m.measure(n.Alias, depth)
		case size < 0:
			return 0, &excess{n, fmt.Sprintf("the anchor %q contains itself", n.Value)}
		}
		return size, nil
	}
	if n.Anchor != "" {
		m.sizes[n] = -1
	}
	total := 1
	for _, c := range n.Content {
		size, bad := m.measure(c, depth+1)
		if bad != nil {
			return 0, bad
		}
		if total += size; total > m.limits.Nodes {
			return 0, &excess{n, fmt.Sprintf("has more than %d values, with aliases written out", m.limits.Nodes)}
		}
	}
	if n.Anchor != "" {
		m.sizes[n] = total
	}
	return total, nil
}

var yamlLine = regexp.MustCompile(`line (\d+): `)

func yamlErrorPosition(file string, err error, firstLine int) Position {
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		line, _ := strconv.Atoi(m[1])
		return Position{File: file, Line: line + firstLine, Column: 1}
	}
	return Position{File: file, Line: firstLine + 1, Column: 1}
}

func yamlErrorText(err error) string {
	return yamlLine.ReplaceAllString(err.Error(), "")
}
