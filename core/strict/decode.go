package strict

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// Validator is implemented by types that check what their shape alone can not
// say. Validate is called after the value was decoded without an error, inner
// values first.
type Validator interface {
	Validate(at *At)
}

// Enum is implemented by string types with a fixed set of words.
type Enum interface {
	Enum() []string
}

// Scalar is implemented by types that read a scalar or any other node by
// themselves. An error is reported at the node.
type Scalar interface {
	UnmarshalYAML(node *yaml.Node) error
}

// Decode fills target, a non-nil pointer, from the value at a place and
// reports whether it found no error; all errors go to the document's sink.
// Fields of type *[At] receive their place undecoded.
func Decode(at *At, target any) bool {
	return decodeValue(at, reflect.ValueOf(target).Elem())
}

// DecodeExcept is [Decode] for a struct, passing over the named fields of the
// input, which somebody else reads.
func DecodeExcept(at *At, target any, except ...string) bool {
	v := reflect.ValueOf(target).Elem()
	return decodeStruct(at, v, except) && validate(at, v)
}

var (
	atType   = reflect.TypeFor[*At]()
	textType = reflect.TypeFor[encoding.TextUnmarshaler]()
)

func decodeValue(at *At, v reflect.Value) bool {
	node := resolve(at.node)
	if v.Type() == atType {
		v.Set(reflect.ValueOf(at))
		return true
	}
	if node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null" {
		at.Errorf("leave the field out instead", "must not be null")
		return false
	}
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		return decodeValue(at, v.Elem())
	}
	if s, ok := v.Addr().Interface().(Scalar); ok {
		if err := s.UnmarshalYAML(node); err != nil {
			at.Errorf("", "%s", err)
			return false
		}
		return validate(at, v)
	}
	if v.Addr().Type().Implements(textType) {
		return decodeText(at, v) && validate(at, v)
	}
	var ok bool
	switch v.Kind() {
	case reflect.Struct:
		ok = decodeStruct(at, v, nil)
	case reflect.Slice:
		ok = decodeSlice(at, v)
	case reflect.Map:
		ok = decodeMap(at, v)
	default:
		ok = decodeScalar(at, v)
	}
	return ok && validate(at, v)
}

func validate(at *At, v reflect.Value) bool {
	checked, ok := v.Addr().Interface().(Validator)
	if !ok {
		return true
	}
	before := len(at.doc.sink.errors)
	checked.Validate(at)
	return len(at.doc.sink.errors) == before
}

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
		if node.Kind != yaml.ScalarNode || tag != "!!bool" {
			return wrongType(at, "true or false")
		}
		b, err := strconv.ParseBool(node.Value)
		if err != nil {
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
	for _, w := range words {
		if w == word {
			return true
		}
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
	hint := ""
	if want == "a string" && node.Kind == yaml.ScalarNode {
		hint = "write it in quotes: " + quote(node.Value)
	}
	at.Errorf(hint, "must be %s, not %s", want, describe(node))
	return false
}

func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!int", "!!float":
		return "the number " + n.Value
	case "!!bool":
		return n.Value
	case "!!str":
		return "the string " + quote(n.Value)
	}
	return n.Value
}

func decodeSlice(at *At, v reflect.Value) bool {
	node := resolve(at.node)
	if node.Kind != yaml.SequenceNode {
		return wrongType(at, "a list")
	}
	out := reflect.MakeSlice(v.Type(), len(node.Content), len(node.Content))
	ok := true
	for i, c := range node.Content {
		ok = decodeValue(&At{doc: at.doc, node: c, parent: at, index: i}, out.Index(i)) && ok
	}
	v.Set(out)
	return ok
}

func decodeMap(at *At, v reflect.Value) bool {
	node := resolve(at.node)
	if node.Kind != yaml.MappingNode {
		return wrongType(at, "a mapping")
	}
	out := reflect.MakeMapWithSize(v.Type(), len(node.Content)/2)
	ok := true
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, fieldOK := fieldName(at, node, i)
		if !fieldOK {
			ok = false
			continue
		}
		elem := reflect.New(v.Type().Elem()).Elem()
		ok = decodeValue(&At{doc: at.doc, node: node.Content[i+1], parent: at, key: name}, elem) && ok
		out.SetMapIndex(reflect.ValueOf(name).Convert(v.Type().Key()), elem)
	}
	v.Set(out)
	return ok
}

// fieldName returns the name of a mapping's field number i/2, reporting names
// that are no strings and names that stand there before.
func fieldName(at *At, node *yaml.Node, i int) (string, bool) {
	key := node.Content[i]
	keyAt := &At{doc: at.doc, node: key, parent: at.parent, key: at.key, index: at.index}
	if key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str" {
		switch {
		case key.ShortTag() == "!!merge":
			keyAt.Errorf("write the fields out", "merge keys (<<) are not supported")
		case key.Kind == yaml.ScalarNode:
			keyAt.Errorf("write it in quotes: "+quote(key.Value), "a field's name must be a string, not %s", describe(key))
		default:
			keyAt.Errorf("", "a field's name must be a string")
		}
		return "", false
	}
	for j := 0; j < i; j += 2 {
		if node.Content[j].Value == key.Value {
			keyAt.Errorf(fmt.Sprintf("it stands in line %d already", node.Content[j].Line), "duplicate field %q", key.Value)
			return "", false
		}
	}
	return key.Value, true
}
