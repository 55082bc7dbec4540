package fuzz

import "reflect"

// hasOpaque reports whether a part of a Conf type brings its own Equal, Hash
// and Clone: it may take values with two texts for equal, and share what is
// never written.
func hasOpaque(conf reflect.Type) bool {
	seen := map[reflect.Type]bool{conf: true}
	var look func(t reflect.Type) bool
	look = func(t reflect.Type) bool {
		switch {
		case seen[t]:
			return false
		case hasOwnMethods(t):
			return true
		}
		seen[t] = true
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			return look(t.Elem())
		case reflect.Struct:
			return anyField(t, look)
		}
		return false
	}
	return anyField(conf, look)
}

func anyField(t reflect.Type, has func(reflect.Type) bool) bool {
	for i := range t.NumField() {
		if has(t.Field(i).Type) {
			return true
		}
	}
	return false
}

func hasOwnMethods(t reflect.Type) bool {
	for _, name := range []string{"Equal", "Hash", "Clone"} {
		if _, ok := reflect.PointerTo(t).MethodByName(name); !ok {
			return false
		}
	}
	return true
}
