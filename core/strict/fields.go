package strict

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// fields is what [Decode] knows of a struct type.
type fields struct {
	list          []field
	byName        map[string]int // names and aliases, to list
	names         []string       // for hints
	discriminator int            // in list; -1: the struct is no union
}

type field struct {
	name     string
	index    int // in the struct
	required bool
	arm      bool // of a union
}

var fieldsOf sync.Map // reflect.Type to *fields; a pure cache

func structFields(t reflect.Type) *fields {
	if known, ok := fieldsOf.Load(t); ok {
		return known.(*fields)
	}
	f := &fields{byName: map[string]int{}, discriminator: -1}
	for i := range t.NumField() {
		sf := t.Field(i)
		name, options, tagged := strings.Cut(sf.Tag.Get("json"), ",")
		if !sf.IsExported() || name == "-" || name == "" {
			continue
		}
		if sf.Tag.Get("policyMerge") == "discriminator" {
			f.discriminator = len(f.list)
		}
		f.byName[name] = len(f.list)
		if alias := sf.Tag.Get("alias"); alias != "" {
			f.byName[alias] = len(f.list)
		}
		f.names = append(f.names, name)
		f.list = append(f.list, field{name: name, index: i, required: !tagged || !strings.Contains(options, "omitzero")})
	}
	if f.discriminator >= 0 {
		for _, word := range unionWords(t.Field(f.list[f.discriminator].index).Type) {
			for i := range f.list {
				f.list[i].arm = f.list[i].arm || strings.EqualFold(f.list[i].name, word)
			}
		}
	}
	known, _ := fieldsOf.LoadOrStore(t, f)
	return known.(*fields)
}

// unionWords returns the types of a union: an arm is a field that is called
// like one of them, other fields go with every type.
func unionWords(discriminator reflect.Type) []string {
	if e, ok := reflect.Zero(discriminator).Interface().(Enum); ok {
		return e.Enum()
	}
	return nil
}

// decodeStruct fills the fields of v, going on after errors.
func decodeStruct(at *At, v reflect.Value, except []string) {
	node := at.Node()
	if node.Kind != yaml.MappingNode {
		wrongType(at, "a mapping")
		return
	}
	known := structFields(v.Type())
	seen := make([]bool, len(known.list))
	complete := true // no field has a name that is none
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, ok := fieldName(at, node, i)
		if !ok {
			complete = complete && isName(node.Content[i])
			continue
		}
		if slices.Contains(except, name) {
			continue
		}
		place := at.fieldAt(name, node.Content[i+1])
		n, found := known.byName[name]
		if !found {
			place.node = node.Content[i]
			place.Errorf(DidYouMean(name, known.names), "unknown field")
			continue
		}
		if seen[n] {
			place.node = node.Content[i]
			place.Errorf("", "duplicate field: the same as %q", known.list[n].name)
			continue
		}
		seen[n] = true
		decodeValue(place, v.Field(known.list[n].index))
	}
	for n, f := range known.list {
		if f.required && !seen[n] && complete {
			at.Field(f.name).Errorf("", "required field is missing")
		}
	}
	if known.discriminator >= 0 {
		checkUnion(at, v, known, seen)
	}
}

// checkUnion reports arms that do not go with the union's type, and a type
// whose arm is missing although it has required fields.
func checkUnion(at *At, v reflect.Value, known *fields, seen []bool) {
	discriminator := v.Field(known.list[known.discriminator].index)
	word := discriminator.String()
	if !slices.Contains(unionWords(discriminator.Type()), word) {
		return // reported where it stands
	}
	for n, f := range known.list {
		if !f.arm {
			continue
		}
		mine := strings.EqualFold(f.name, word)
		switch {
		case seen[n] && !mine:
			at.Field(f.name).Errorf("remove it or change the type", "does not go with type %q", word)
		case mine && !seen[n] && hasRequired(v.Type().Field(f.index).Type):
			at.Field(f.name).Errorf("", "is required for type %q", word)
		}
	}
}

func hasRequired(t reflect.Type) bool {
	if t.Kind() != reflect.Pointer {
		return true
	}
	if t.Elem().Kind() != reflect.Struct {
		return true
	}
	return slices.ContainsFunc(structFields(t.Elem()).list, func(f field) bool { return f.required })
}
