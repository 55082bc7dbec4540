package laws

import (
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"strings"
)

// places returns what can be changed in v: scalars, and pointers, lists and
// maps that can become nil or cease to be.
func (w walk) places(v reflect.Value) []reflect.Value {
	var found []reflect.Value
	if w.opaque(v.Type()) {
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		found = append(found, v)
		if !v.IsNil() {
			found = append(found, w.places(v.Elem())...)
		}
	case reflect.Slice:
		found = append(found, v)
		for i := range v.Len() {
			found = append(found, w.places(v.Index(i))...)
		}
	case reflect.Map:
		found = append(found, v)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				found = append(found, w.places(v.Field(i))...)
			}
		}
	default:
		if isScalar(v.Kind()) {
			found = append(found, v)
		}
	}
	return found
}

// change changes one random place of c; it returns false if there is none.
func change[T any](c *T, r *rand.Rand) bool {
	all := walk{reflect.TypeFor[T]()}.places(reflect.ValueOf(c).Elem())
	if len(all) == 0 {
		return false
	}
	v := all[r.Intn(len(all))]
	before := deepCopy(c)
	changeValue(v, r)
	return !same(before, c)
}

func changeValue(v reflect.Value, r *rand.Rand) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		} else {
			v.SetZero()
		}
	case reflect.Slice:
		switch {
		case v.IsNil():
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		case v.Len() == 0:
			v.SetZero()
		default:
			v.Set(v.Slice(0, v.Len()-1))
		}
	case reflect.Map:
		switch {
		case v.IsNil():
			v.Set(reflect.MakeMap(v.Type()))
		case v.Len() == 0:
			v.SetZero()
		default:
			// The smallest key, so that the same seed does the same again.
			v.SetMapIndex(slices.MinFunc(v.MapKeys(), func(a, b reflect.Value) int {
				return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
			}), reflect.Value{})
		}
	default:
		old := v.Interface()
		for n := r.Intn(4); v.Interface() == old; n++ {
			setScalar(v, n)
		}
	}
}

// changeAll overwrites whatever can be reached from c, in place.
func changeAll[T any](c *T, r *rand.Rand) {
	for _, v := range (walk{reflect.TypeFor[T]()}).places(reflect.ValueOf(c).Elem()) {
		switch {
		case v.Kind() == reflect.Map && !v.IsNil():
			v.Clear()
		case isScalar(v.Kind()):
			changeValue(v, r)
		}
	}
}
