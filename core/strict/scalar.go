package strict

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

func decodeText(at *At, v reflect.Value) bool {
	node := at.Node()
	if node.Kind != yaml.ScalarNode {
		return wrongType(at, "a string")
	}
	if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(node.Value)); err != nil {
		at.Errorf("", "%s", err)
		return false
	}
	return true
}

func decodeScalar(at *At, v reflect.Value) bool {
	node := at.Node()
	tag := node.ShortTag()
	switch v.Kind() {
	case reflect.String:
		if node.Kind != yaml.ScalarNode || tag != "!!str" && tag != "!!timestamp" {
			return wrongType(at, "a string")
		}
		v.SetString(node.Value)
		if e, ok := v.Interface().(Enum); ok {
			return knownWord(at, node.Value, e.Enum())
		}
	case reflect.Bool:
		b, err := strconv.ParseBool(node.Value)
		if node.Kind != yaml.ScalarNode || tag != "!!bool" || err != nil {
			return wrongType(at, "true or false")
		}
		v.SetBool(b)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if tag != "!!int" {
			return wrongType(at, "a whole number")
		}
		n, err := strconv.ParseInt(digits(node), 0, v.Type().Bits())
		if err != nil {
			return outOfRange(at, v)
		}
		v.SetInt(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if tag != "!!int" {
			return wrongType(at, "a whole number")
		}
		n, err := strconv.ParseUint(digits(node), 0, v.Type().Bits())
		if err != nil {
			return outOfRange(at, v)
		}
		v.SetUint(n)
	case reflect.Float32, reflect.Float64:
		if tag != "!!int" && tag != "!!float" {
			return wrongType(at, "a number")
		}
		if err := node.Decode(v.Addr().Interface()); err != nil {
			return outOfRange(at, v)
		}
		if math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0) {
			return wrongType(at, "a finite number") // JSON has no other
		}
	default:
		panic(fmt.Sprintf("strict: can not decode into %s", v.Type()))
	}
	return true
}

func knownWord(at *At, word string, words []string) bool {
	if slices.Contains(words, word) {
		return true
	}
	at.Errorf(DidYouMean(word, words), "unknown value %q", word)
	return false
}

// digits returns a whole number as package strconv reads it: YAML's may have a
// plus and underscores.
func digits(node *yaml.Node) string {
	return strings.TrimPrefix(strings.ReplaceAll(node.Value, "_", ""), "+")
}

func outOfRange(at *At, v reflect.Value) bool {
	at.Errorf("", "%s is out of range (%s)", at.Node().Value, v.Kind())
	return false
}

func wrongType(at *At, want string) bool {
	node := at.Node()
	at.Errorf(typeHint(node, want), "must be %s, not %s", want, describe(node))
	return false
}

func typeHint(node *yaml.Node, want string) string {
	if node.Kind != yaml.ScalarNode {
		return ""
	}
	if want == "a string" {
		return "write it in quotes: " + strconv.Quote(node.Value)
	}
	plain := yaml.Node{Kind: yaml.ScalarNode, Value: node.Value}
	switch tag := plain.ShortTag(); {
	case node.ShortTag() != "!!str":
	case want == "true or false" && tag == "!!bool",
		want == "a whole number" && tag == "!!int",
		want == "a number" && (tag == "!!int" || tag == "!!float"):
		return "write it without quotes: " + node.Value
	}
	return ""
}

func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch tag := n.ShortTag(); tag {
	case "!!int", "!!float":
		return "the number " + n.Value
	case "!!bool":
		return n.Value
	case "!!null":
		return "null"
	case "!!str":
		return "the string " + strconv.Quote(n.Value)
	default:
		return "a value with the tag " + tag
	}
}
