package conf

import (
	"bytes"
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/meshmatch/meshmatch/core/strict"
)

// JSON is any value, as compact JSON with sorted keys.
type JSON string

// DecodeAt accepts any value that JSON can express.
func (v *JSON) DecodeAt(at *strict.At) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(plain(at)) // plain values have a JSON form
	*v = JSON(bytes.TrimSpace(b.Bytes()))
}

// plain returns a value in the types of encoding/json. Dates and other texts
// that YAML has a type for stay the texts that were written.
func plain(at *strict.At) any {
	node := at.Node()
	switch node.Kind {
	case yaml.SequenceNode:
		list := make([]any, len(node.Content))
		for i, element := range at.Elements() {
			list[i] = plain(element)
		}
		return list
	case yaml.MappingNode:
		fields := make(map[string]any, len(node.Content)/2)
		for name, field := range at.Fields() {
			fields[name] = plain(field)
		}
		return fields
	}
	switch node.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		return decoded[bool](at)
	case "!!int":
		if strings.HasPrefix(node.Value, "-") {
			return decoded[int64](at)
		}
		return decoded[uint64](at)
	case "!!float":
		return decoded[float64](at)
	}
	return decoded[string](at)
}

func decoded[T any](at *strict.At) T {
	var value T
	strict.Decode(at, &value)
	return value
}

// MarshalJSON prints the value; one that was not decoded and is no JSON is
// printed as a string.
func (v JSON) MarshalJSON() ([]byte, error) { return literal(string(v)) }
