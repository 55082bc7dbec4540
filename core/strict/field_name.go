package strict

import (
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// fieldName returns the name of a mapping's field number i/2, reporting names
// that are no strings and names that stand there before.
func fieldName(at *At, node *yaml.Node, i int) (string, bool) {
	key := node.Content[i]
	keyAt := &At{doc: at.doc, node: key, parent: at.parent, key: at.key, index: at.index}
	if !isName(key) {
		switch {
		case key.ShortTag() == "!!merge":
			keyAt.Errorf("write the fields out", "merge keys (<<) are not supported")
		case key.Kind == yaml.ScalarNode:
			keyAt.Errorf("write it in quotes: "+strconv.Quote(key.Value), "a field's name must be a string, not %s", describe(key))
		default:
			keyAt.Errorf("", "a field's name must be a string")
		}
		return "", false
	}
	if first := at.doc.fieldIndex(node, key.Value); first < i {
		keyAt.Errorf(fmt.Sprintf("it stands in line %d already", node.Content[first].Line), "duplicate field %q", key.Value)
		return "", false
	}
	return key.Value, true
}

func isName(key *yaml.Node) bool { return key.Kind == yaml.ScalarNode && key.ShortTag() == "!!str" }

// smallMapping is the number of fields up to which they are looked through
// one by one.
const smallMapping = 16

// fieldIndex returns the index in a mapping's content of the first field with
// that name, or -1. Large mappings are indexed, so that reading one takes
// linear time.
func (d *Document) fieldIndex(mapping *yaml.Node, name string) int {
	if len(mapping.Content) <= 2*smallMapping {
		for i := 0; i+1 < len(mapping.Content); i += 2 {
			if key := mapping.Content[i]; key.Value == name && isName(key) {
				return i
			}
		}
		return -1
	}
	index := d.places[mapping]
	if index == nil {
		index = make(map[string]int, len(mapping.Content)/2)
		for i := 0; i+1 < len(mapping.Content); i += 2 {
			if key := mapping.Content[i]; isName(key) {
				if _, twice := index[key.Value]; !twice {
					index[key.Value] = i
				}
			}
		}
		if d.places == nil {
			d.places = map[*yaml.Node]map[string]int{}
		}
		d.places[mapping] = index
	}
	if i, found := index[name]; found {
		return i
	}
	return -1
}
