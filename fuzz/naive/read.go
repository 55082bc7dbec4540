package naive

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"
)

// read returns the tree of a conf, a pointer to a struct. The item sets every node. The
// Go type of a field determines how it merges (SPEC 6).
func read(conf any, item int) *node {
	root := readStruct(reflect.ValueOf(conf).Elem(), item)
	root.always = true
	return root
}

func readStruct(v reflect.Value, item int) *node {
	n := &node{shape: object, item: item, fields: map[string]*node{}, unset: map[string]any{}}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !field.IsExported() || name == "" || name == "-" {
			continue
		}
		if field.Tag.Get("policyMerge") == "discriminator" {
			n.shape, n.word = union, v.Field(i).String()
		}
		if options != "omitzero" {
			n.unset[name] = toJSON(reflect.Zero(field.Type).Interface())
		}
		if child := readField(&field, v.Field(i), item); child != nil {
			child.hides = options == "omitzero"
			n.fields[name] = child
		}
	}
	return n
}

// readField implements the table of SPEC 6; nil means not set.
func readField(field *reflect.StructField, v reflect.Value, item int) *node {
	word := field.Tag.Get("policyMerge")
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		if isObject(v.Type().Elem()) {
			return readStruct(v.Elem(), item)
		}
		if v.Elem().Kind() == reflect.Slice && !isOpaque(v.Type().Elem()) {
			if n := readField(field, v.Elem(), item); n != nil && n.shape != leaf {
				return n // a list that grows
			}
		}
	case reflect.Struct:
		if isObject(v.Type()) {
			n := readStruct(v, item)
			n.always = true
			return n
		}
	case reflect.Slice:
		switch {
		case v.IsNil() && word != "mergeKey":
			return nil
		case word == "mergeValuesByKey":
			return &node{shape: keyed, item: item, elems: readKeyed(v, item)}
		case word == "mergeValuesByKey,highestFirst":
			return &node{shape: keyed, item: item, elems: readKeyed(v, item), highestFirst: true}
		case word == "concat", isAppend(field.Name):
			return &node{shape: appended, item: item, elems: readElements(v, item)}
		}
	case reflect.Map:
		if v.IsNil() {
			return nil
		}
		if !isOpaque(v.Type()) {
			return readMap(v, item)
		}
	default:
		if word == "omitzero" && v.IsZero() {
			return nil
		}
	}
	return &node{shape: leaf, item: item, value: toJSON(v.Interface()), zero: v.IsZero()}
}

func readElements(v reflect.Value, item int) []*node {
	elems := []*node{}
	for i := range v.Len() {
		elems = append(elems, &node{shape: leaf, item: item, value: toJSON(v.Index(i).Interface())})
	}
	return elems
}

func readKeyed(v reflect.Value, item int) []*node {
	elems := []*node{}
	for i := range v.Len() {
		elem := v.Index(i)
		if elem.Kind() == reflect.Pointer {
			elem = elem.Elem()
		}
		n := readStruct(elem, item)
		n.key = readKey(elem)
		elems = append(elems, n)
	}
	return elems
}

func readMap(v reflect.Value, item int) *node {
	n := &node{shape: mapping, item: item, fields: map[string]*node{}}
	for _, key := range v.MapKeys() {
		elem := v.MapIndex(key)
		entry := elem
		if elem.Kind() == reflect.Pointer && !elem.IsNil() {
			entry = elem.Elem()
		}
		if isObject(entry.Type()) {
			n.fields[key.String()] = readStruct(entry, item)
		} else {
			n.fields[key.String()] = &node{shape: leaf, item: item, value: toJSON(elem.Interface())}
		}
	}
	return n
}

// isObject reports whether a type merges field by field: a struct that is not
// opaque.
func isObject(t reflect.Type) bool { return t.Kind() == reflect.Struct && !isOpaque(t) }

// isOpaque reports whether a type has its own Equal. Such a type is one value, with any
// content.
func isOpaque(t reflect.Type) bool {
	_, ok := reflect.PointerTo(t).MethodByName("Equal")
	return ok
}

// isAppend reports whether a field name is Append followed by a name, as in
// AppendModifications but not in Appendix.
func isAppend(name string) bool {
	rest, ok := strings.CutPrefix(name, "Append")
	first, _ := utf8.DecodeRuneInString(rest)
	return ok && !unicode.IsLower(first)
}

// toJSON returns a value as a JSON tree. Numbers are not converted.
func toJSON(v any) any {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("naive: %T has no JSON: %v", v, err))
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		panic(fmt.Sprintf("naive: %T has bad JSON: %v", v, err))
	}
	return tree
}
