package build

import (
	"fmt"
	"go/types"

	"github.com/meshmatch/meshmatch/gen/internal/ir"
)

// list returns the rule of a slice: replaced, appended to or merged by key.
func (b *builder) list(name string, t types.Type, slice *types.Slice, word string, at place) ir.Merging {
	byKey := word == wordByKey || word == wordByKeyHighest
	switch {
	case byKey && appends(name):
		b.report(at, fmt.Sprintf("a list named Append... is appended to, and policyMerge:%q merges it by key", word), "rename the field or remove the tag")
		return nil
	case byKey:
		return b.keyed(slice, word == wordByKeyHighest, at.elem())
	case word == wordConcat || word == wordNone && appends(name):
		if b.valueOf(t, at) == nil {
			return nil
		}
		return ir.Concat{Elem: b.valueOf(slice.Elem(), at.elem())}
	case b.refuse(word, "a list", at):
		return nil
	}
	if v := b.valueOf(t, at); v != nil {
		return ir.Replace{Value: v, Set: ir.NotNil}
	}
	return nil
}

// grows reports whether a list of type t, to which a field points, is not replaced.
func (b *builder) grows(name string, t types.Type, word string) bool {
	if named, ok := t.(*types.Named); ok && b.handWritten(named) {
		return false
	}
	switch word {
	case wordConcat, wordByKey, wordByKeyHighest:
		return true
	}
	return word == wordNone && appends(name)
}

func (b *builder) keyed(slice *types.Slice, highestFirst bool, at place) ir.Merging {
	elem, pointer := dereference(slice.Elem())
	named, ok := elem.(*types.Named)
	if ok {
		_, ok = named.Underlying().(*types.Struct)
	}
	if !ok || b.handWritten(named) {
		b.report(at, `policyMerge:"mergeValuesByKey" needs a list of structs`, `elements are equal by their fields tagged policyMerge:"mergeKey"`)
		return nil
	}
	s := b.structOf(named, at)
	switch {
	case s == nil:
		return nil
	case len(s.Keys) == 0:
		b.report(at, fmt.Sprintf("%s has no key", named.Obj().Name()), `tag the fields by which elements are equal with policyMerge:"mergeKey"`)
		return nil
	}
	return ir.Keyed{Elem: s, Pointer: pointer, HighestFirst: highestFirst}
}

func (b *builder) mapOf(m *types.Map, at place) ir.Merging {
	at = at.elem()
	if basic, ok := m.Key().Underlying().(*types.Basic); !ok || basic.Info()&types.IsString == 0 {
		b.report(at, "the keys of a map must be strings", "they are names in JSON")
		return nil
	}
	rule := ir.Map{Key: b.valueOf(m.Key(), at)}
	elem, pointer := dereference(m.Elem())
	if named, ok := elem.(*types.Named); !ok || !b.handWritten(named) {
		switch elem.Underlying().(type) {
		case *types.Struct:
			nested, ok := b.nested(elem, true, at).(ir.Nested)
			if !ok {
				return nil
			}
			rule.Struct = nested.Struct
		case *types.Basic, *types.Slice:
		default:
			b.reportMapElem(m.Elem(), pointer, at)
			return nil
		}
	}
	if rule.Elem = b.valueOf(m.Elem(), at); rule.Elem == nil || rule.Key == nil {
		return nil
	}
	return rule
}

func (b *builder) reportMapElem(elem types.Type, pointer bool, at place) {
	if _, ok := elem.Underlying().(*types.Map); ok && !pointer {
		b.report(at, "a map of maps cannot be merged", "make the inner map a field of a struct")
		return
	}
	b.unsupported(elem, at)
}

func dereference(t types.Type) (elem types.Type, pointer bool) {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		return types.Unalias(p.Elem()), true
	}
	return types.Unalias(t), false
}
