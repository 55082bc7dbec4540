package conf

import (
	"encoding/json"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/meshmatch/meshmatch/core/strict"
)

// IntOrString is a number that may be written as text where a fraction is
// needed: 50 or "50.5". It keeps the JSON literal as written, so that what is
// printed has the type that was read.
type IntOrString string

// DecodeAt accepts a whole number, or a string that is a decimal number.
func (v *IntOrString) DecodeAt(at *strict.At) {
	switch node := at.Node(); {
	case node.Kind == yaml.ScalarNode && node.ShortTag() == "!!int":
		var n int64
		strict.Decode(at, &n)
		*v = IntOrString(strconv.FormatInt(n, 10))
	case node.Kind == yaml.ScalarNode && node.ShortTag() == "!!str" && decimal(node.Value):
		*v = IntOrString(strconv.Quote(node.Value))
	case node.Kind == yaml.ScalarNode && node.ShortTag() == "!!float":
		at.Errorf("write "+strconv.Quote(node.Value), "a number with a fraction must stand in quotes")
	case node.Kind == yaml.ScalarNode:
		at.Errorf("", "must be a whole number or a decimal number in quotes, not %q", node.Value)
	default:
		at.Errorf("", "must be a whole number or a decimal number in quotes")
	}
}

func decimal(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil && strings.Trim(s, "+-.0123456789") == ""
}

// MarshalJSON prints the literal; a value that was not decoded and is none is
// printed as a string.
func (v IntOrString) MarshalJSON() ([]byte, error) { return literal(string(v)) }

// Float returns the number.
func (v IntOrString) Float() float64 {
	f, _ := strconv.ParseFloat(strings.Trim(string(v), `"`), 64)
	return f
}

func literal(text string) ([]byte, error) {
	if json.Valid([]byte(text)) {
		return []byte(text), nil
	}
	return json.Marshal(text)
}
