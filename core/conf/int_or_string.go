package conf

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// IntOrString is a number that may be written as text where a fraction is
// needed: 50 or "50.5". It keeps the JSON literal as written, so that what is
// printed has the type that was read.
type IntOrString string

// UnmarshalYAML accepts a whole number, or a string that is a decimal number.
func (v *IntOrString) UnmarshalYAML(node *yaml.Node) error {
	switch {
	case node.Kind != yaml.ScalarNode:
		return fmt.Errorf("must be a whole number or a decimal number in quotes")
	case node.ShortTag() == "!!int":
		n, err := strconv.ParseInt(node.Value, 0, 64)
		if err != nil {
			return fmt.Errorf("%s is out of range", node.Value)
		}
		*v = IntOrString(strconv.FormatInt(n, 10))
		return nil
	case node.ShortTag() == "!!float":
		return fmt.Errorf("a number with a fraction must stand in quotes; write %q", node.Value)
	case node.ShortTag() != "!!str" || !decimal(node.Value):
		return fmt.Errorf("must be a whole number or a decimal number in quotes, not %q", node.Value)
	}
	*v = IntOrString(strconv.Quote(node.Value))
	return nil
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
