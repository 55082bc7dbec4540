package fuzz

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
)

// confMaker makes Confs from their Go types. Each decision about a value, such as
// whether an optional field is set, is a call of choose.
type confMaker struct {
	*alphabet
	choose func(n int) int // returns 0 to n-1
	// valid restricts the values to values that the Validate methods accept, as in
	// a file. Confs that are only merged may be invalid.
	valid   bool
	refused refusals // the reasons why values were not valid
}

// maxDepth limits the depth of types that contain lists of themselves.
const maxDepth = 8

// conf returns a pointer to a Conf of a struct type, or nil if it finds no
// valid one.
func (m *confMaker) conf(t reflect.Type) any {
	v, ok := m.make(t, 0)
	if !ok {
		return nil
	}
	conf := reflect.New(t)
	conf.Elem().Set(v)
	return conf.Interface()
}

// make returns a value of a type, or false if it finds no valid one. depth is the
// number of enclosing values.
func (m *confMaker) make(t reflect.Type, depth int) (reflect.Value, bool) {
	switch {
	case m.isWhole(t):
		return m.scalar(t)
	case depth > maxDepth:
		return reflect.Zero(t), t.Kind() != reflect.Struct
	}
	switch t.Kind() {
	case reflect.Pointer:
		v, ok := m.make(t.Elem(), depth+1)
		if !ok {
			return reflect.Zero(t), false
		}
		p := reflect.New(t.Elem())
		p.Elem().Set(v)
		return p, true
	case reflect.Slice:
		return m.list(t, depth), true
	case reflect.Map:
		return m.mapping(t, depth), true
	}
	return m.object(t, depth)
}

func (m *confMaker) scalar(t reflect.Type) (reflect.Value, bool) {
	values := m.valuesOf(t)
	switch {
	case len(values) == 0:
		return reflect.Value{}, false
	case t == reflect.TypeFor[string]() && m.choose(2) == 0:
		values = values[:min(len(values), maxValues)]
	}
	return values[m.choose(len(values))], true
}

func (m *confMaker) list(t reflect.Type, depth int) reflect.Value {
	list := reflect.MakeSlice(t, 0, 2)
	for range m.choose(4) {
		if elem, ok := m.make(t.Elem(), depth+1); ok {
			list = reflect.Append(list, elem)
		}
	}
	return list
}

func (m *confMaker) mapping(t reflect.Type, depth int) reflect.Value {
	entries := reflect.MakeMap(t)
	for range m.choose(3) {
		key, keyOK := m.make(t.Key(), depth+1)
		elem, elemOK := m.make(t.Elem(), depth+1)
		if keyOK && elemOK {
			entries.SetMapIndex(key, elem)
		}
	}
	return entries
}

// tries is the maximum number of attempts to make a valid struct. If all fail, an
// optional field or an element is omitted.
const tries = 12

// object makes a struct. The last attempt sets only required fields.
func (m *confMaker) object(t reflect.Type, depth int) (reflect.Value, bool) {
	for try := range tries {
		v, ok := m.fields(t, depth, try == tries-1)
		if ok && (!m.valid || m.isValid(v)) {
			return v, true
		}
	}
	return reflect.Value{}, false
}

func (m *confMaker) isValid(v reflect.Value) bool {
	document, err := json.Marshal(v.Interface())
	if err == nil {
		err = conf.Unmarshal(document, reflect.New(v.Type()).Interface())
	}
	if err != nil {
		m.refused.add(v.Type(), err)
	}
	return err == nil
}

// fields makes a struct. If least is set, it omits all optional fields except the arm of
// a union.
func (m *confMaker) fields(t reflect.Type, depth int, least bool) (reflect.Value, bool) {
	v := reflect.New(t).Elem()
	arm := m.arm(t, v)
	only := m.only(t, depth)
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		optional := options == "omitzero"
		switch {
		case !field.IsExported() || name == "" || name == "-" || isDiscriminator(&field):
			continue
		case arm.excludes(name), optional && !arm.hasChosen(name) && i != only && (least || only >= 0 || m.choose(2) == 0):
			continue
		}
		value, ok := m.make(field.Type, depth+1)
		if !ok && !optional {
			return v, false
		}
		if ok {
			v.Field(i).Set(value)
		}
	}
	return v, true
}

// only returns the index of the only optional field to set, in half of the Confs, and
// otherwise -1. A Conf with one field overrides little of other Confs, so a merge has
// several origins.
func (m *confMaker) only(t reflect.Type, depth int) int {
	if depth > 0 || t.NumField() == 0 || m.choose(2) == 0 {
		return -1
	}
	return m.choose(t.NumField())
}

// arm is the chosen type of a union. The field with its name may be present;
// fields with the names of other types must not be (package strict).
type arm struct {
	chosen string
	others []string
}

func (a arm) hasChosen(field string) bool {
	return a.chosen != "" && strings.EqualFold(field, a.chosen)
}

func (a arm) excludes(field string) bool {
	return !a.hasChosen(field) && slices.ContainsFunc(a.others, func(other string) bool { return strings.EqualFold(field, other) })
}

// arm chooses and sets the type of a union. For other structs it excludes
// nothing.
func (m *confMaker) arm(t reflect.Type, v reflect.Value) arm {
	for i := range t.NumField() {
		field := t.Field(i)
		if !isDiscriminator(&field) {
			continue
		}
		words := m.valuesOf(field.Type)
		if len(words) == 0 {
			break
		}
		chosen := words[m.choose(len(words))]
		v.Field(i).Set(chosen)
		a := arm{chosen: chosen.String()}
		for _, word := range words {
			a.others = append(a.others, word.String())
		}
		return a
	}
	return arm{}
}

func isDiscriminator(field *reflect.StructField) bool {
	return field.Tag.Get("policyMerge") == "discriminator"
}
