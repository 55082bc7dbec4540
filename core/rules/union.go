package rules

import (
	"reflect"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/resource"
)

// An item that is no origin changes nothing (SPEC 6), with one exception: in a
// discriminated union an item of another type, itself overridden, cuts off what
// items below it say about the type that the result has. So for confs with a
// union no item can be left out because others override it.

// hasUnion reports whether confs of a section have a discriminated union that
// is merged. One in the elements of a list which is replaced or concatenated is
// not.
func (b *Blocks) hasUnion(section *resource.Section) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	has, known := b.unions[section]
	if !known {
		has = mergesUnion(reflect.TypeOf(section.Conf.NewMerger().Conf()), map[reflect.Type]bool{})
		b.unions[section] = has
	}
	return has
}

func mergesUnion(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return mergesUnion(t.Elem(), seen)
	case reflect.Interface, reflect.Func:
		return true // whatever it is
	case reflect.Struct:
		for i := range t.NumField() {
			field := t.Field(i)
			words := strings.Split(field.Tag.Get("policyMerge"), ",")
			if slices.Contains(words, "discriminator") {
				return true
			}
			if field.Type.Kind() == reflect.Slice && !slices.Contains(words, "mergeValuesByKey") {
				continue
			}
			if mergesUnion(field.Type, seen) {
				return true
			}
		}
	}
	return false
}
