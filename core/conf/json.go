package conf

import (
	"bytes"
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// JSON is any value, as compact JSON with sorted keys.
type JSON string

// UnmarshalYAML accepts any value that JSON can express.
func (v *JSON) UnmarshalYAML(node *yaml.Node) error {
	value, err := plain(node)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("has no JSON form: %v", err)
	}
	*v = JSON(bytes.TrimSpace(b.Bytes()))
	return nil
}

// plain returns the value of a node in the types of encoding/json. Dates and
// other texts that YAML has a type for stay the texts that were written.
func plain(node *yaml.Node) (any, error) {
	switch node.Kind {
	case yaml.AliasNode:
		return plain(node.Alias)
	case yaml.SequenceNode:
		list := make([]any, len(node.Content))
		for i, element := range node.Content {
			var err error
			if list[i], err = plain(element); err != nil {
				return nil, err
			}
		}
		return list, nil
	case yaml.MappingNode:
		fields := make(map[string]any, len(node.Content)/2)
		for i := 0; i+1 < len(node.Content); i += 2 {
			key := node.Content[i]
			if key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str" {
				return nil, fmt.Errorf("line %d: a field's name must be a string", key.Line)
			}
			if _, twice := fields[key.Value]; twice {
				return nil, fmt.Errorf("line %d: duplicate field %q", key.Line, key.Value)
			}
			value, err := plain(node.Content[i+1])
			if err != nil {
				return nil, err
			}
			fields[key.Value] = value
		}
		return fields, nil
	}
	switch node.ShortTag() {
	case "!!null", "!!bool", "!!int", "!!float":
		var value any
		if err := node.Decode(&value); err != nil {
			return nil, fmt.Errorf("can not be read: %v", err)
		}
		return value, nil
	}
	return node.Value, nil
}

// MarshalJSON prints the value; one that was not decoded and is no JSON is
// printed as a string.
func (v JSON) MarshalJSON() ([]byte, error) { return literal(string(v)) }
