package naive

import "reflect"

// elementKey contains the fields of an element with the tag
// policyMerge:"mergeKey".
type elementKey struct{ values []reflect.Value }

func readKey(elem reflect.Value) *elementKey {
	key := &elementKey{}
	for i := range elem.NumField() {
		if elem.Type().Field(i).Tag.Get("policyMerge") == "mergeKey" {
			key.values = append(key.values, elem.Field(i))
		}
	}
	return key
}

func (k *elementKey) equal(o *elementKey) bool {
	for i := range k.values {
		if !equalValues(k.values[i], o.values[i]) {
			return false
		}
	}
	return true
}

// equalValues compares with the type's own Equal, if any, and otherwise by
// content.
func equalValues(a, b reflect.Value) bool {
	if isOpaque(a.Type()) {
		return callEqual(a, b)
	}
	switch a.Kind() {
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		return equalValues(a.Elem(), b.Elem())
	case reflect.Slice:
		if a.IsNil() != b.IsNil() || a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !equalValues(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		for i := range a.NumField() {
			if !equalValues(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

// callEqual calls Equal(T) or Equal(*T).
func callEqual(a, b reflect.Value) bool {
	pointers := [2]reflect.Value{}
	for i, v := range []reflect.Value{a, b} {
		pointers[i] = reflect.New(v.Type())
		pointers[i].Elem().Set(v)
	}
	method := pointers[0].MethodByName("Equal")
	argument := pointers[1]
	if method.Type().In(0).Kind() != reflect.Pointer {
		argument = argument.Elem()
	}
	return method.Call([]reflect.Value{argument})[0].Bool()
}
