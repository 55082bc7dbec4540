package build

import (
	"fmt"
	"go/types"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// jsonName returns the name of a field in files and in the pointers of leaves.
// names has the previous fields of the struct, by their names in JSON.
func (b *builder) jsonName(field *types.Var, tag string, names map[string]string, at place) (string, bool) {
	name, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	switch {
	case name == "" || name == "-":
		first, size := utf8.DecodeRuneInString(field.Name())
		wanted := string(unicode.ToLower(first)) + field.Name()[size:]
		b.report(at, "has no name in JSON: no file can set it", fmt.Sprintf("tag it `json:\"%s,omitzero\"`, or without omitzero if it is required", wanted))
		return "", false
	case names[name] != "":
		b.report(at, fmt.Sprintf("has the JSON name %q of the field %s", name, names[name]), "give each field a different name")
		return "", false
	}
	names[name] = field.Name()
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "", "omitzero":
		case "omitempty":
			b.report(at, "omitempty does not make the field optional: it is required in files", fmt.Sprintf("use omitzero: `json:\"%s,omitzero\"`", name))
			return "", false
		default:
			b.report(at, fmt.Sprintf("the option %s of the json tag has no effect", option), "remove it; the only option is omitzero, for an optional field")
			return "", false
		}
	}
	return name, true
}

// optional reports whether the field may be absent in files.
func optional(tag string) bool {
	_, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	return slices.Contains(strings.Split(options, ","), "omitzero")
}

// checkJSON reports fields that no file can set, in a struct that is replaced as a
// whole. A type that decodes itself needs no names.
func (b *builder) checkJSON(named *types.Named, at place) bool {
	if _, merged := b.structs[named.Obj()]; merged || decodesItself(named) {
		return true // the fields of a merged struct are checked one by one
	}
	b.checkUntaggedUnion(named, at)
	under := named.Underlying().(*types.Struct)
	names, fine := make(map[string]string), true
	for i := range under.NumFields() {
		if field := under.Field(i); field.Exported() {
			_, ok := b.jsonName(field, under.Tag(i), names, b.fieldPlace(named, field, at))
			fine = fine && ok
		}
	}
	return fine
}

// decodesItself reports whether a type has a method that decodes its text.
func decodesItself(named *types.Named) bool {
	return slices.ContainsFunc([]string{"UnmarshalJSON", "UnmarshalText", "DecodeAt"}, func(name string) bool { return method(named, name) != nil })
}
