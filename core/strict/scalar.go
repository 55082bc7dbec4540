package strict

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
)

func decodeText(at *At, v reflect.Value) bool {
	node := resolve(at.node)
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
	node := resolve(at.node)
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
		if node.Kind != yaml.ScalarNode || tag != "!!int" {
			return wrongType(at, "a whole number")
		}
		n, err := strconv.ParseInt(node.Value, 0, v.Type().Bits())
		if err != nil {
			return outOfRange(at, node, v)
		}
		v.SetInt(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if node.Kind != yaml.ScalarNode || tag != "!!int" {
			return wrongType(at, "a whole number")
		}
		n, err := strconv.ParseUint(node.Value, 0, v.Type().Bits())
		if err != nil {
			return outOfRange(at, node, v)
		}
		v.SetUint(n)
	case reflect.Float32, reflect.Float64:
		if node.Kind != yaml.ScalarNode || tag != "!!int" && tag != "!!float" {
			return wrongType(at, "a number")
		}
		f, err := strconv.ParseFloat(node.Value, v.Type().Bits())
		if err != nil {
			return outOfRange(at, node, v)
		}
		v.SetFloat(f)
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

func outOfRange(at *At, node *yaml.Node, v reflect.Value) bool {
	at.Errorf("", "%s is out of range (%s)", node.Value, v.Kind())
	return false
}

func wrongType(at *At, want string) bool {
	node := resolve(at.node)
	at.Errorf(typeHint(node, want), "must be %s, not %s", want, describe(node))
	return false
}

func typeHint(node *yaml.Node, want string) string {
	if node.Kind != yaml.ScalarNode {
		return ""
	}
	_, notNumber := strconv.ParseFloat(node.Value, 64)
	_, notBool := strconv.ParseBool(node.Value)
	switch isText := node.ShortTag() == "!!str"; {
	case want == "a string":
		return "write it in quotes: " + quote(node.Value)
	case isText && want == "true or false" && notBool == nil,
		isText && want != "true or false" && notNumber == nil:
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
		return "the string " + quote(n.Value)
	default:
		return "a value with the tag " + tag
	}
}
