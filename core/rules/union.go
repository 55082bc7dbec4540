package rules

import (
	"reflect"
	"strings"

	"github.com/meshmatch/meshmatch/core/resource"
)

// An item that is no origin changes nothing (SPEC 6), with one exception: in a
// discriminated union an item of another type, itself overridden, cuts off what
// items below it say about the type that the result has. So for confs with a
// union no item can be left out because others override it.

// hasUnion reports whether confs of a section have a discriminated union
// anywhere in them.
func (b *Blocks) hasUnion(section *resource.Section) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	has, known := b.unions[section]
	if !known {
		has = typeHasUnion(reflect.TypeOf(section.Conf.NewMerger().Conf()), map[reflect.Type]bool{})
		b.unions[section] = has
	}
	return has
}

func typeHasUnion(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return typeHasUnion(t.Elem(), seen)
	case reflect.Interface, reflect.Func:
		return true // whatever it is
	case reflect.Struct:
		for i := range t.NumField() {
			field := t.Field(i)
			for word := range strings.SplitSeq(field.Tag.Get("policyMerge"), ",") {
				if strings.TrimSpace(word) == "discriminator" {
					return true
				}
			}
			if typeHasUnion(field.Type, seen) {
				return true
			}
		}
	}
	return false
}
