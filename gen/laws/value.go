package laws

import (
	"fmt"
	"reflect"
	"slices"
)

// equality: Equal reports true for a copy, and false for nil and for a copy that
// differs in one place.
func (t Type[C]) equality(confs []C) error {
	var null C
	if v := reflect.ValueOf(&null).Elem(); v.Kind() == reflect.Interface {
		v.Set(reflect.Zero(reflect.TypeOf(confs[0])))
	}
	for _, c := range t.withResult(confs) {
		copied := deepCopy(c)
		switch {
		case !t.Equal(c, copied) || !t.Equal(copied, c) || !t.Equal(c, c):
			return fmt.Errorf("%s does not equal a copy of itself", text(c))
		case t.Equal(c, null):
			return fmt.Errorf("%s equals nil", text(c))
		}
		if err := eachChange(copied, func(path string) error {
			if t.Equal(c, copied) || t.Equal(copied, c) {
				return fmt.Errorf("%s equals %s, which differs at %s", text(c), text(copied), path)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// hash: equal confs have equal hashes, for any order of map entries; a copy that
// differs in one place has a different hash.
func (t Type[C]) hash(confs []C) error {
	for _, c := range t.withResult(confs) {
		want, ok := hashOf(c)
		if !ok {
			return nil
		}
		copied := deepCopy(c)
		for range 4 {
			if got, _ := hashOf(copied); got != want {
				return fmt.Errorf("%s and a copy have different hashes", text(c))
			}
		}
		if err := eachChange(copied, func(path string) error {
			if got, _ := hashOf(copied); got == want {
				return fmt.Errorf("%s and %s have the same hash and differ at %s", text(c), text(copied), path)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// clone: a clone is equal and shares no memory.
func (t Type[C]) clone(confs []C) error {
	for _, c := range t.withResult(confs) {
		clone, ok := cloneOf(c)
		switch {
		case !ok:
			return nil
		case !same(clone, c):
			return fmt.Errorf("the clone of %s is %s", text(c), text(clone))
		}
		if path := shared(c, clone); path != "" {
			return fmt.Errorf("%s is shared by %s and its clone", path, text(c))
		}
	}
	return nil
}

// withResult returns the confs and their merge.
func (t Type[C]) withResult(confs []C) []C {
	return append(slices.Clone(confs), t.merge(confs...).Conf())
}

// hashOf returns the hash of a conf, if its type has one.
func hashOf(c any) (hash uint64, ok bool) {
	h, ok := c.(interface{ Hash() uint64 })
	if !ok {
		return 0, false
	}
	return h.Hash(), true
}

// cloneOf returns a clone of a conf, if its type has Clone.
func cloneOf[C any](c C) (clone C, ok bool) {
	method := reflect.ValueOf(c).MethodByName("Clone")
	if !method.IsValid() {
		return clone, false
	}
	clone, ok = method.Call(nil)[0].Interface().(C)
	return clone, ok
}
