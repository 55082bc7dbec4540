package strict

import (
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/meshmatch/meshmatch/core/diag"
)

// yamlNode is a node of a YAML document. Its tree has no cyclic alias.
type yamlNode struct {
	text *yamlText
	*yaml.Node
}

// yamlText contains the data that the nodes of a YAML document share.
type yamlText struct {
	file string
	// fields maps the names of large mappings to indexes in their content.
	fields map[*yaml.Node]map[string]int
}

func (n yamlNode) position() diag.Position {
	return diag.Position{File: n.text.file, Line: n.Line, Column: n.Column}
}

func (n yamlNode) kind() Kind { return kindOf(resolve(n.Node)) }

func (n yamlNode) scalar(strings *localStrings) string {
	if scalar := resolve(n.Node); scalar.Kind == yaml.ScalarNode {
		return scalar.Value
	}
	return ""
}

func (n yamlNode) cursor(strings *localStrings) cursor {
	return &yamlCursor{text: n.text, strings: strings, next: n.Node}
}

func (n yamlNode) in(doc *Document) node {
	if root, ok := doc.root.(yamlNode); ok {
		return yamlNode{root.text, n.Node}
	}
	return yamlNode{&yamlText{file: n.text.file}, n.Node}
}

func (n yamlNode) name(i int) node { return yamlNode{n.text, resolve(n.Node).Content[i]} }

func (n yamlNode) value(i int) node { return yamlNode{n.text, resolve(n.Node).Content[i+1]} }

// find looks up the names of large mappings in a map, so that a mapping is read in
// linear time. It returns the index of the name in the content of the mapping.
func (n yamlNode) find(name string) int {
	mapping := resolve(n.Node)
	if mapping.Kind != yaml.MappingNode {
		return -1
	}
	if len(mapping.Content) <= 2*smallMapping {
		for i := 0; i+1 < len(mapping.Content); i += 2 {
			if key := mapping.Content[i]; key.Value == name && isName(key) {
				return i
			}
		}
		return -1
	}
	index := n.text.fields[mapping]
	if index == nil {
		index = map[string]int{}
		for i := 0; i+1 < len(mapping.Content); i += 2 {
			key := mapping.Content[i]
			if _, twice := index[key.Value]; isName(key) && !twice {
				index[key.Value] = i
			}
		}
		if n.text.fields == nil {
			n.text.fields = map[*yaml.Node]map[string]int{}
		}
		n.text.fields[mapping] = index
	}
	if i, found := index[name]; found {
		return i
	}
	return -1
}

func (n yamlNode) names(_ *localStrings, yield func(string) bool) {
	mapping := resolve(n.Node)
	for i := 0; mapping.Kind == yaml.MappingNode && i < len(mapping.Content); i += 2 {
		if key := mapping.Content[i]; isName(key) && !yield(key.Value) {
			return
		}
	}
}

func (n yamlNode) element(i int) node {
	list := resolve(n.Node)
	if list.Kind != yaml.SequenceNode || i >= len(list.Content) {
		return nil
	}
	return yamlNode{n.text, list.Content[i]}
}

func isName(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && scalarKind(key) == String && !isMerge(key)
}

func isMerge(key *yaml.Node) bool { return key.ShortTag() == "!!merge" }

// scalarKind returns the kind of a scalar by its tag or, without one, by the
// core schema; 0 if it has a tag that does not fit.
func scalarKind(n *yaml.Node) Kind {
	const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	switch {
	case n.Style&yaml.TaggedStyle != 0:
		return taggedKind(plainTags[n.ShortTag()], n.Value)
	case n.Style&quoted != 0:
		return String
	}
	return plainKind(n.Value)
}

// taggedKind returns the kind of a scalar with the tag of a kind, or 0 if the text
// is not valid for the tag by the core schema.
func taggedKind(tag Kind, text string) Kind {
	switch kind := plainKind(text); {
	case tag == String, tag == kind && tag != 0:
		return tag
	case tag == Float && kind == Int && !isRadix(text):
		return Float
	}
	return 0
}

// tagFlaw returns the error in the tag of a node that is not an alias, or nil.
func tagFlaw(n *yaml.Node) *flaw {
	if n.Style&yaml.TaggedStyle == 0 {
		return nil
	}
	tag := n.ShortTag()
	kind, plain := plainTags[tag]
	fits := false
	switch n.Kind {
	case yaml.MappingNode:
		fits = kind == Mapping
	case yaml.SequenceNode:
		fits = kind == List
	case yaml.ScalarNode:
		fits = taggedKind(kind, n.Value) != 0
	}
	switch {
	case !plain:
		return &flaw{diag.UnsupportedYAML, "the tag has no meaning here", "remove it"}
	case !fits && n.Kind == yaml.ScalarNode:
		return &flaw{diag.UnsupportedYAML, fmt.Sprintf("the tag %s does not fit the text %.80q", tag, n.Value), "remove the tag"}
	case !fits:
		return &flaw{diag.UnsupportedYAML, fmt.Sprintf("the tag %s does not fit %s", tag, describe(kindOf(n), "")), "remove the tag"}
	}
	return nil
}

// kindOf returns the kind of a node that is not an alias.
func kindOf(n *yaml.Node) Kind {
	switch n.Kind {
	case yaml.MappingNode:
		return Mapping
	case yaml.SequenceNode:
		return List
	}
	return scalarKind(n)
}

// plainTags maps the supported tags to kinds.
var plainTags = map[string]Kind{
	"!!map": Mapping, "!!seq": List, "!!str": String, "!!bool": Bool, "!!int": Int, "!!float": Float, "!!null": Null,
}

func resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// yamlCursor is a [cursor] in a tree of nodes.
type yamlCursor struct {
	text    *yamlText
	strings *localStrings
	next    *yaml.Node
	known   Kind       // of next, or 0
	key     *yaml.Node // the latest name
	entered []yamlParts
	peeked  []byte // the latest text that peek returned
}

// yamlParts contains the parts of a mapping or list, and the number of parts
// that were read.
type yamlParts struct {
	of   *yaml.Node
	read int
}

func (c *yamlCursor) kind() Kind {
	if c.known != 0 {
		return c.known
	}
	c.known = kindOf(resolve(c.next))
	return c.known
}

func (c *yamlCursor) tagFlaw() *flaw { return tagFlaw(resolve(c.next)) }

func (c *yamlCursor) peek() []byte {
	if n := resolve(c.next); n.Kind == yaml.ScalarNode {
		c.peeked = append(c.peeked[:0], n.Value...)
		return c.peeked
	}
	return nil
}

func (c *yamlCursor) scalar() string { return keep(c.strings, resolve(c.next).Value) }

func (c *yamlCursor) enter() { c.entered = append(c.entered, yamlParts{of: resolve(c.next)}) }

func (c *yamlCursor) parts() *yamlParts { return &c.entered[len(c.entered)-1] }

func (c *yamlCursor) size() int { return len(c.parts().of.Content) }

func (c *yamlCursor) more() bool {
	parts := c.parts()
	if parts.read >= len(parts.of.Content) {
		return false
	}
	if parts.of.Kind == yaml.SequenceNode {
		c.next, c.known = parts.of.Content[parts.read], 0
		parts.read++
	}
	return true
}

func (c *yamlCursor) name() (string, *flaw) {
	parts := c.parts()
	c.key, c.next, c.known = parts.of.Content[parts.read], parts.of.Content[parts.read+1], 0
	parts.read += 2
	switch {
	case isMerge(c.key):
		return "", &flaw{diag.UnsupportedYAML, "merge keys (<<) are not supported", "write the fields out"}
	case c.key.Kind != yaml.ScalarNode:
		return "", &flaw{diag.WrongType, "a field's name must be a string", ""}
	case tagFlaw(c.key) != nil:
		return "", tagFlaw(c.key)
	case !isName(c.key):
		return "", badName(scalarKind(c.key), c.key.Value)
	}
	return keep(c.strings, c.key.Value), nil
}

func (c *yamlCursor) nameIn(known *fields) int {
	parts := c.parts()
	key := parts.of.Content[parts.read]
	spelling := spellingOf(known, key.Value)
	if spelling < 0 || !isName(key) {
		return -1
	}
	c.key, c.next, c.known = key, parts.of.Content[parts.read+1], 0
	parts.read += 2
	return spelling
}

func badName(kind Kind, text string) *flaw {
	return &flaw{diag.WrongType, "a field's name must be a string, not " + describe(kind, text), "write it in quotes: " + strconv.Quote(text)}
}

func (c *yamlCursor) namePosition() diag.Position { return yamlNode{c.text, c.key}.position() }

func (c *yamlCursor) leave() { c.entered = c.entered[:len(c.entered)-1] }

func (c *yamlCursor) skip() {}
