package strict

import (
	"encoding"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Enum is implemented by string types with a fixed set of words.
type Enum interface {
	Enum() []string
}

// Scalar is implemented by types that read a scalar or any other value by
// themselves. DecodeAt reports what is wrong at the place where it is.
type Scalar interface {
	DecodeAt(at *At)
}

// Decode fills target, a non-nil pointer, from the value at a place and
// reports whether it found no error; all errors go to the document's sink.
// Fields of type *[At] receive their place undecoded.
//
// After an error target holds what could be read. Pointers to numbers, texts
// and lists in error are nil; a word that its [Enum] does not know stays.
func Decode(at *At, target any) bool {
	return decodeValue(at, reflect.ValueOf(target).Elem())
}

// DecodeExcept is [Decode] for a struct, passing over the named fields of the
// input, which somebody else reads.
func DecodeExcept(at *At, target any, except ...string) bool {
	v := reflect.ValueOf(target).Elem()
	before := at.doc.sink.mark()
	if meaningful(at) {
		decodeStruct(at, v, except)
		validate(at, v, before)
	}
	return at.doc.sink.mark() == before
}

var (
	atType   = reflect.TypeFor[*At]()
	textType = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// decodeValue reports whether it found no error in the value.
func decodeValue(at *At, v reflect.Value) bool {
	if v.Type() == atType {
		v.Set(reflect.ValueOf(at))
		return true
	}
	if !meaningful(at) {
		return false
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		ok := decodeValue(at, v.Elem())
		if _, isEnum := v.Interface().(Enum); !ok && !isEnum && v.Elem().Kind() != reflect.Struct {
			v.SetZero() // so that validators do not take it for a value
		}
		return ok
	}
	before := at.doc.sink.mark()
	if s, ok := v.Addr().Interface().(Scalar); ok {
		if s.DecodeAt(at); at.doc.sink.mark() != before {
			return false
		}
	} else if v.Addr().Type().Implements(textType) {
		if !decodeText(at, v) {
			return false
		}
	} else {
		switch v.Kind() {
		case reflect.Struct:
			decodeStruct(at, v, nil)
		case reflect.Slice:
			decodeSlice(at, v)
		case reflect.Map:
			decodeMap(at, v)
		default:
			if !decodeScalar(at, v) {
				return false
			}
		}
	}
	validate(at, v, before)
	return at.doc.sink.mark() == before
}

// meaningful refuses nulls, and tags that are not those of the plain types.
func meaningful(at *At) bool {
	node := at.Node()
	tag := node.ShortTag()
	if node.Style&yaml.TaggedStyle != 0 && !slices.Contains([]string{"!!map", "!!seq", "!!str", "!!bool", "!!int", "!!float", "!!null"}, tag) {
		at.Errorf("remove it", "the tag %s has no meaning here", tag)
		return false
	}
	if tag != "!!null" {
		return true
	}
	hint := "leave the field out instead"
	if at.parent == nil {
		hint = "leave the document out instead"
	}
	at.Errorf(hint, "must not be null")
	return false
}

func decodeSlice(at *At, v reflect.Value) {
	node := at.Node()
	if node.Kind != yaml.SequenceNode {
		wrongType(at, "a list")
		return
	}
	out := reflect.MakeSlice(v.Type(), len(node.Content), len(node.Content))
	for i, element := range at.Elements() {
		decodeValue(element, out.Index(i))
	}
	v.Set(out)
}

// decodeMap keeps the entries that could be read.
func decodeMap(at *At, v reflect.Value) {
	node := at.Node()
	if node.Kind != yaml.MappingNode {
		wrongType(at, "a mapping")
		return
	}
	out := reflect.MakeMapWithSize(v.Type(), len(node.Content)/2)
	for name, field := range at.Fields() {
		elem := reflect.New(v.Type().Elem()).Elem()
		if decodeValue(field, elem) {
			out.SetMapIndex(reflect.ValueOf(name).Convert(v.Type().Key()), elem)
		}
	}
	v.Set(out)
}
