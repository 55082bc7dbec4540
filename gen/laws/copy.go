package laws

import (
	"fmt"
	"reflect"
	"strings"
)

// spare is the spare capacity of lists: an append to a shared list then writes
// to memory that another conf may read.
const spare = 4

// deepCopy returns a copy that shares nothing with c.
func deepCopy[C any](c C) C {
	root := reflect.ValueOf(c).Elem()
	copied := reflect.New(root.Type())
	walk{root.Type()}.copyInto(copied.Elem(), root)
	return copied.Interface().(C)
}

// copies returns a copy of each conf.
func copies[C any](confs []C) []C {
	copied := make([]C, len(confs))
	for i, c := range confs {
		copied[i] = deepCopy(c)
	}
	return copied
}

func (w walk) copyInto(dst, src reflect.Value) {
	dst.Set(src) // unexported fields of foreign structs, and scalars
	if w.opaque(src.Type()) {
		return
	}
	switch src.Kind() {
	case reflect.Pointer:
		if !src.IsNil() {
			dst.Set(reflect.New(src.Type().Elem()))
			w.copyInto(dst.Elem(), src.Elem())
		}
	case reflect.Slice:
		if !src.IsNil() {
			dst.Set(reflect.MakeSlice(src.Type(), src.Len(), src.Len()+spare))
			for i := range src.Len() {
				w.copyInto(dst.Index(i), src.Index(i))
			}
		}
	case reflect.Map:
		if !src.IsNil() {
			dst.Set(reflect.MakeMap(src.Type()))
			for entries := src.MapRange(); entries.Next(); {
				value := reflect.New(src.Type().Elem()).Elem()
				w.copyInto(value, entries.Value())
				dst.SetMapIndex(entries.Key(), value)
			}
		}
	case reflect.Struct:
		for i := range src.NumField() {
			if src.Type().Field(i).IsExported() {
				w.copyInto(dst.Field(i), src.Field(i))
			}
		}
	}
}

// shared returns the path of a part that the confs a and b share, or "".
func shared(a, b any) string {
	inA, inB := memoryOf(a), memoryOf(b)
	first := ""
	for address, path := range inA {
		if _, ok := inB[address]; ok && (first == "" || path < first) {
			first = path
		}
	}
	return first
}

// memoryOf returns the addresses to which a conf refers (pointers, the arrays of
// lists, maps) with their paths.
func memoryOf(c any) map[uintptr]string {
	addresses := make(map[uintptr]string)
	v := reflect.ValueOf(c)
	walk{v.Type().Elem()}.memory(v, "", addresses)
	return addresses
}

func (w walk) memory(v reflect.Value, path string, into map[uintptr]string) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		if v.Type().Elem().Size() > 0 { // values of size zero may have the same address
			into[v.Pointer()] = path
		}
		if !w.opaque(v.Type().Elem()) {
			w.memory(v.Elem(), path, into)
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

// walk visits the values that a root type consists of.
type walk struct {
	root reflect.Type
}

// opaque reports whether a type has its own Equal and is therefore one value,
// regardless of its parts. The Equal of the root is generated.
func (w walk) opaque(t reflect.Type) bool {
	if t == w.root || t.Kind() == reflect.Pointer {
		return false
	}
	_, ok := reflect.PointerTo(t).MethodByName("Equal")
	return ok
}

// mergesElements reports whether the struct type t has elements or entries that are
// merged but are one leaf each: an origin is then not always the item of a leaf.
func (w walk) mergesElements(t reflect.Type) bool {
	for i := range t.NumField() {
		field := t.Field(i)
		inner := field.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case w.opaque(inner):
		case strings.HasPrefix(field.Tag.Get("policyMerge"), "mergeValuesByKey"):
			return true
		case inner.Kind() == reflect.Map && w.isStruct(inner.Elem()):
			return true
		case w.isStruct(inner) && w.mergesElements(inner):
			return true
		}
	}
	return false
}

// isStruct reports whether t is a struct that merges field by field, or a
// pointer to one.
func (w walk) isStruct(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct && !w.opaque(t)
}
