package fuzz

import (
	"fmt"
	"reflect"

	"github.com/meshmatch/meshmatch/core/resource"
)

// copies: a clone is equal and shares nothing that can be written; Equal and
// Hash tell Confs apart as their texts do.
func (l *confLaws) copies(confs []resource.Conf) error {
	for _, conf := range confs {
		clone := l.Clone(conf)
		switch {
		case asText(clone) != asText(conf):
			return fmt.Errorf("the clone of %s is %s", asText(conf), asText(clone))
		case !l.Equal(conf, clone) || !l.Equal(clone, conf):
			return fmt.Errorf("%s is not equal to its clone", asText(conf))
		case l.Hash(conf) != l.Hash(clone):
			return fmt.Errorf("%s and its clone have two hashes", asText(conf))
		case !l.opaque && shareMemory(reflect.ValueOf(conf), reflect.ValueOf(clone)):
			return fmt.Errorf("%s shares memory with its clone", asText(conf))
		}
		for _, other := range confs {
			if err := l.tellApart(conf, other); err != nil {
				return err
			}
		}
	}
	return nil
}

// tellApart does not look at what a type's own Equal takes for equal.
func (l *confLaws) tellApart(a, b resource.Conf) error {
	equal, hash := l.Equal(a, b), l.Hash(a) == l.Hash(b)
	sameText := asText(a) == asText(b)
	switch {
	case equal && !hash:
		return fmt.Errorf("%s and %s are equal and have two hashes", asText(a), asText(b))
	case sameText && !equal:
		return fmt.Errorf("%s is not equal to its like", asText(a))
	case equal && !sameText && !l.opaque:
		return fmt.Errorf("%s is equal to %s", asText(a), asText(b))
	case hash && !equal:
		return fmt.Errorf("%s and %s have one hash", asText(a), asText(b))
	}
	return nil
}

// shareMemory reports whether two values of one type have a pointer, list or
// map in common that something could be written through.
func shareMemory(a, b reflect.Value) bool {
	if a.Kind() != b.Kind() {
		return false
	}
	switch a.Kind() {
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return false
		}
		return a.Pointer() == b.Pointer() && a.Type().Elem().Size() > 0 || shareMemory(a.Elem(), b.Elem())
	case reflect.Map:
		return a.Len() > 0 && a.Pointer() == b.Pointer()
	case reflect.Slice:
		if a.Len() > 0 && b.Len() > 0 && a.Pointer() == b.Pointer() && a.Type().Elem().Size() > 0 {
			return true
		}
		for i := range min(a.Len(), b.Len()) {
			if shareMemory(a.Index(i), b.Index(i)) {
				return true
			}
		}
	case reflect.Struct:
		for i := range a.NumField() {
			if shareMemory(a.Field(i), b.Field(i)) {
				return true
			}
		}
	}
	return false
}
