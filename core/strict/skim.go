package strict

import "go.yaml.in/yaml/v3"

// Skim checks a value that nobody decodes for what is wrong whatever it means:
// nulls, duplicate fields and names that are no strings.
func Skim(at *At) {
	node := resolve(at.node)
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if name, ok := fieldName(at, node, i); ok {
				Skim(&At{doc: at.doc, node: node.Content[i+1], parent: at, key: name})
			}
		}
	case yaml.SequenceNode:
		for i, c := range node.Content {
			Skim(&At{doc: at.doc, node: c, parent: at, index: i})
		}
	default:
		notNull(at)
	}
}
