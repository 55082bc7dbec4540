package laws

import (
	"reflect"
	"strconv"
	"strings"
)

// resolve returns the part of a conf at a JSON pointer. It walks the Go values by
// the names in the json tags, because random values may not have a JSON form.
func resolve(conf any, pointer string) (v reflect.Value, ok bool) {
	v, ok = reflect.ValueOf(conf), true
	for pointer != "" {
		step, rest, more := strings.Cut(pointer[1:], "/")
		if v, ok = child(v, unescape(step)); !ok {
			return v, false
		}
		if pointer = rest; more {
			pointer = "/" + rest
		}
	}
	return v, ok
}

func child(v reflect.Value, name string) (reflect.Value, bool) {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return v, false
		}
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if tag == name {
				return v.Field(i), true
			}
		}
	case reflect.Map:
		entry := v.MapIndex(reflect.ValueOf(name).Convert(v.Type().Key()))
		return entry, entry.IsValid()
	case reflect.Slice:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < v.Len() {
			return v.Index(i), true
		}
	}
	return v, false
}

func unescape(step string) string {
	return strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
}

// crossesList reports whether a pointer leads into a list. The index in the
// pointer refers to the result, not to an item.
func crossesList(conf any, pointer string) bool {
	for i := len(pointer) - 1; i > 0; i-- {
		if pointer[i] != '/' {
			continue
		}
		v, ok := resolve(conf, pointer[:i])
		for ok && v.Kind() == reflect.Pointer && !v.IsNil() {
			v = v.Elem()
		}
		if ok && v.Kind() == reflect.Slice {
			return true
		}
	}
	return false
}

// isNil reports whether v has a kind that can be nil and is nil.
func isNil(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return v.IsNil()
	}
	return false
}
