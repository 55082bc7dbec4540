package fuzz

import (
	"encoding/json"
	"reflect"
	"strings"
)

// confMaker makes Confs and their parts from decisions, by their Go types.
type confMaker struct {
	*alphabet
	choose func(n int) int // 0 to n-1
	// valid: only what the types' own Validate accepts, as in a file. Merging
	// asks for no more than the right type.
	valid bool
}

// maxDepth ends types that contain lists of themselves.
const maxDepth = 8

// conf returns a Conf of a struct type, as a pointer, or nil where no valid one
// was found.
func (m *confMaker) conf(t reflect.Type) any {
	v, ok := m.make(t, 0)
	if !ok {
		return nil
	}
	conf := reflect.New(t)
	conf.Elem().Set(v)
	return conf.Interface()
}

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
	values := m.of(t)
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

// tries is how often a struct is made before its owner does without it.
const tries = 12

// object makes a struct, the last time with as little as possible.
func (m *confMaker) object(t reflect.Type, depth int) (reflect.Value, bool) {
	for try := range tries {
		v, ok := m.fields(t, depth, try == tries-1)
		if ok && (!m.valid || isValid(v)) {
			return v, true
		}
	}
	return reflect.Value{}, false
}

func isValid(v reflect.Value) bool {
	document, err := json.Marshal(v.Interface())
	return err == nil && decodes(string(document), "", reflect.New(v.Type()).Interface())
}

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
		case arm.excludes(name), optional && !arm.is(name) && i != only && (least || only >= 0 || m.choose(2) == 0):
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

// only returns the one optional field that every other Conf has, and else -1: an
// item that says little leaves to others what they say.
func (m *confMaker) only(t reflect.Type, depth int) int {
	if depth > 0 || t.NumField() == 0 || m.choose(2) == 0 {
		return -1
	}
	return m.choose(t.NumField())
}
