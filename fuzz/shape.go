package fuzz

import "reflect"

// confShape is what of a Conf type changes the laws that it keeps.
type confShape struct {
	union  bool // merged: in a list that is replaced whole it does not matter
	opaque bool // a part has Equal, Hash and Clone of its own
}

func shapeOf(t reflect.Type) confShape {
	var s confShape
	seen := map[reflect.Type]bool{t: true}
	for i := range t.NumField() {
		s.look(t.Field(i).Type, merges(t.Field(i)), seen)
	}
	return s
}

// merges reports whether unions inside of a field are merged.
func merges(field reflect.StructField) bool {
	return field.Type.Kind() != reflect.Slice || field.Tag.Get("policyMerge") == "mergeValuesByKey"
}

func (s *confShape) look(t reflect.Type, merged bool, seen map[reflect.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	if hasOwnMethods(t) {
		s.opaque = true
		return
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		s.look(t.Elem(), merged, seen)
	case reflect.Map:
		s.look(t.Elem(), merged, seen)
	case reflect.Struct:
		for i := range t.NumField() {
			field := t.Field(i)
			s.union = s.union || merged && isDiscriminator(&field)
			s.look(field.Type, merged && merges(field), seen)
		}
	}
}

func hasOwnMethods(t reflect.Type) bool {
	for _, name := range []string{"Equal", "Hash", "Clone"} {
		if _, ok := reflect.PointerTo(t).MethodByName(name); !ok {
			return false
		}
	}
	return true
}
