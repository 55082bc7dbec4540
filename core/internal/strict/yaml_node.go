package strict

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/meshmatch/meshmatch/core/diag"
)

// addNode adds the parts of a tree of the library to the text of the document. The tree has
// no cyclic alias, and an alias becomes a copy of its value.
func (d *Document) addNode(n *yaml.Node, aliased bool) {
	t := &d.text
	value := n
	for value.Kind == yaml.AliasNode {
		value, aliased = value.Alias, true
	}
	this := d.addPart(n, kindOf(value), value.Value, tagFlaw(value))
	for i, c := range value.Content {
		switch {
		case value.Kind == yaml.MappingNode && i%2 == 0:
			d.addName(c)
			continue
		case !aliased && c.Kind == yaml.ScalarNode && c.Style == 0: // a value that is aliased too is reported once
			d.others = append(d.others, int32(len(t.parts)))
		}
		d.addNode(c, aliased)
	}
	t.parts[this].parts = int32(len(t.parts) - this)
}

// addName adds the name of a field.
func (d *Document) addName(key *yaml.Node) {
	switch bad := tagFlaw(key); {
	case isMerge(key):
		d.addPart(key, 0, "", &flaw{diag.UnsupportedYAML, "merge keys (<<) are not supported", "write the fields out"})
	case key.Kind != yaml.ScalarNode:
		d.addPart(key, 0, "", &flaw{diag.WrongType, "a field's name must be a string", ""})
	default:
		d.addPart(key, scalarKind(key), key.Value, bad)
	}
}

// addPart adds a part without its contents, and returns its index.
func (d *Document) addPart(at *yaml.Node, kind Kind, value string, bad *flaw) int {
	t := &d.text
	this, begin := len(t.parts), len(t.data)
	t.data = append(t.data, value...)
	t.parts = append(t.parts, part{begin: int32(begin), end: int32(len(t.data)), parts: 1, kind: kind})
	t.marks = append(t.marks, mark{at.Line, at.Column})
	if bad != nil {
		if t.flaws == nil {
			t.flaws = map[int]*flaw{}
		}
		t.flaws[this] = bad
	}
	return this
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

// taggedKind returns the kind of a scalar with the tag of a kind. It returns 0 if
// the core schema does not allow the text with the tag.
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
