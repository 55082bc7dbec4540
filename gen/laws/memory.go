package laws

import (
	"fmt"
	"reflect"
)

// memory collects the addresses of what v refers to: pointers, the arrays of
// lists, maps.
func (w walk) memory(v reflect.Value, path string, into map[uintptr]string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			if v.Type().Elem().Size() > 0 { // all values without size may share an address
				into[v.Pointer()] = path
			}
			if !w.opaque(v.Type().Elem()) {
				w.memory(v.Elem(), path, into)
			}
		}
	case reflect.Slice:
		if v.Cap() > 0 && v.Type().Elem().Size() > 0 {
			into[v.Pointer()] = path
		}
		for i := range v.Len() {
			w.memory(v.Index(i), fmt.Sprintf("%s/%d", path, i), into)
		}
	case reflect.Map:
		if !v.IsNil() {
			into[v.Pointer()] = path
		}
		for entries := v.MapRange(); entries.Next(); {
			w.memory(entries.Value(), fmt.Sprintf("%s/%v", path, entries.Key()), into)
		}
	case reflect.Struct:
		if w.opaque(v.Type()) {
			return
		}
		for i := range v.NumField() {
			w.memory(v.Field(i), path+"/"+v.Type().Field(i).Name, into)
		}
	}
}

// shared returns the path of something that a and b share, or "".
func shared[T any](a, b *T) string {
	w := walk{reflect.TypeFor[T]()}
	inA, inB := make(map[uintptr]string), make(map[uintptr]string)
	w.memory(reflect.ValueOf(a), "", inA)
	w.memory(reflect.ValueOf(b), "", inB)
	first := ""
	for address, path := range inA {
		if _, ok := inB[address]; ok && (first == "" || path < first) {
			first = path
		}
	}
	return first
}
