package laws

import "reflect"

// spare is the capacity that lists have beyond their length, so that an append
// to a shared list writes where another conf may read.
const spare = 4

// deepCopy returns a copy that shares nothing with c.
func deepCopy[T any](c *T) *T {
	copied := reflect.New(reflect.TypeFor[T]())
	walk{reflect.TypeFor[T]()}.copyInto(copied.Elem(), reflect.ValueOf(c).Elem())
	return copied.Interface().(*T)
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

// same compares independently of generated code; nil and empty differ.
func same(a, b any) bool { return reflect.DeepEqual(a, b) }

// walk goes through the values that a root type is made of.
type walk struct {
	root reflect.Type
}

// opaque reports whether a type brings its own Equal, Hash and Clone. Those
// of the root are generated.
func (w walk) opaque(t reflect.Type) bool {
	if t == w.root || t.Kind() == reflect.Pointer {
		return false
	}
	p := reflect.PointerTo(t)
	for _, name := range []string{"Equal", "Hash", "Clone"} {
		if _, ok := p.MethodByName(name); !ok {
			return false
		}
	}
	return true
}
