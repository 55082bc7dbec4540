package laws

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/gen/internal/random"
)

// place is a part of a conf that can be changed, with its JSON pointer.
type place struct {
	path  string
	value reflect.Value
	// store puts a value that has changed back into the maps that have it; nil: no map has it.
	store func()
}

// places returns the parts of v that can be changed: scalars, and pointers,
// lists and maps, which can become nil or lose an element. The parts of a value of a map
// belong to a copy.
func (w walk) places(v reflect.Value, path string) []place {
	if w.opaque(v.Type()) {
		return nil
	}
	found := []place{{path: path, value: v}}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			found = append(found, w.places(v.Elem(), path)...)
		}
	case reflect.Slice:
		for i := range v.Len() {
			found = append(found, w.places(v.Index(i), fmt.Sprintf("%s/%d", path, i))...)
		}
	case reflect.Map:
		for _, key := range sortedKeys(v) {
			found = append(found, w.entryPlaces(v, key, path)...)
		}
	case reflect.Struct:
		found = nil
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				found = append(found, w.places(v.Field(i), path+"/"+fieldName(v.Type().Field(i)))...)
			}
		}
	default:
		if !random.IsScalar(v.Kind()) {
			return nil
		}
	}
	return found
}

// entryPlaces returns the places of a value of a map.
func (w walk) entryPlaces(m, key reflect.Value, path string) []place {
	element := reflect.New(m.Type().Elem()).Elem()
	element.Set(m.MapIndex(key))
	inside := w.places(element, path+"/"+escaper.Replace(fmt.Sprint(key)))
	for i, p := range inside {
		inside[i].store = func() {
			if p.store != nil {
				p.store()
			}
			m.SetMapIndex(key, element)
		}
	}
	return inside
}

// fieldName returns the name of a field in JSON.
func fieldName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "" {
		return f.Name
	}
	return escaper.Replace(name)
}

var escaper = strings.NewReplacer("~", "~0", "/", "~1")

// eachChange changes each place of c in turn, calls check with its JSON pointer
// and restores it.
func eachChange(c any, check func(path string) error) error {
	for _, p := range placesOf(c) {
		before := reflect.ValueOf(p.value.Interface())
		changeValue(p.value)
		p.stored()
		err := check(p.path)
		p.value.Set(before)
		p.stored()
		if err != nil {
			return err
		}
	}
	return nil
}

func (p place) stored() {
	if p.store != nil {
		p.store()
	}
}

func placesOf(c any) []place {
	root := reflect.ValueOf(c).Elem()
	return walk{root.Type()}.places(root, "")
}

// changeValue sets v to another value. It does not change the value to which v
// points.
func changeValue(v reflect.Value) {
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
			v.Set(withoutSmallest(v))
		}
	default:
		before := v.Interface()
		for n := 0; v.Interface() == before; n++ {
			random.SetScalar(v, n)
		}
	}
}

// withoutSmallest returns a copy of a map without its smallest key.
func withoutSmallest(m reflect.Value) reflect.Value {
	smaller := reflect.MakeMap(m.Type())
	for _, key := range sortedKeys(m)[1:] {
		smaller.SetMapIndex(key, m.MapIndex(key))
	}
	return smaller
}

func sortedKeys(m reflect.Value) []reflect.Value {
	keys := m.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return keys
}

// changeAll overwrites in place everything that can be reached from c.
func changeAll(c any) {
	for _, p := range placesOf(c) {
		switch {
		case p.value.Kind() == reflect.Map && !p.value.IsNil():
			p.value.Clear()
		case random.IsScalar(p.value.Kind()):
			changeValue(p.value)
		}
	}
}
