package build

import (
	"fmt"
	"go/types"

	"github.com/meshmatch/meshmatch/gen/internal/ir"
)

// rule returns how a field merges, or nil after an error.
func (b *builder) rule(field *types.Var, word string, at place) ir.Merging {
	t := types.Unalias(field.Type())
	if word == wordKey {
		if v := b.valueOf(t, at); v != nil {
			b.checkMethod("Hash", v, at, hasHash)
			return ir.Replace{Value: v, Set: ir.Always}
		}
		return nil
	}
	if word == wordDiscriminator {
		return b.discriminator(t, at)
	}
	if named, ok := t.(*types.Named); ok && b.handWritten(named) {
		return b.opaque(field.Name(), named, word, at)
	}
	switch under := t.Underlying().(type) {
	case *types.Basic:
		return b.scalar(t, under, word, at)
	case *types.Pointer:
		if t != under {
			b.unsupported(t, at)
			return nil
		}
		return b.pointer(field.Name(), under, word, at)
	case *types.Slice:
		return b.list(field.Name(), t, under, word, at)
	case *types.Map:
		if b.refuse(word, "a map: it merges by key", at) {
			return nil
		}
		return b.mapOf(under, at)
	case *types.Struct:
		if b.refuse(word, "a struct: it merges field by field", at) {
			return nil
		}
		return b.nested(t, false, at)
	default:
		b.unsupported(t, at)
		return nil
	}
}

func (b *builder) discriminator(t types.Type, at place) ir.Merging {
	if !isString(t) {
		b.report(at, "a discriminator must be a string", "it names the arm of the union that is in use")
		return nil
	}
	if v := b.valueOf(t, at); v != nil {
		return ir.Discriminator{Value: v}
	}
	return nil
}

func (b *builder) scalar(t types.Type, basic *types.Basic, word string, at place) ir.Merging {
	v := b.valueOf(t, at)
	if v == nil {
		return nil
	}
	switch word {
	case wordReplace:
		return ir.Replace{Value: v, Set: ir.Always}
	case wordOmitZero:
		return ir.Replace{Value: v, Set: ir.NotZero, Zero: zero(basic)}
	case wordNone:
		hint := `use a pointer, or tag it policyMerge:"omitzero" (zero is not set) or policyMerge:"replace" (always set)`
		if isString(t) {
			hint += `; if it names the arm of a union, policyMerge:"discriminator"`
		}
		b.report(at, fmt.Sprintf("the type %s has no value for not set", types.TypeString(t, b.qualify)), hint)
	default:
		b.refuse(word, "a scalar", at)
	}
	return nil
}

func zero(basic *types.Basic) string {
	switch info := basic.Info(); {
	case info&types.IsBoolean != 0:
		return "false"
	case info&types.IsString != 0:
		return `""`
	}
	return "0"
}

func (b *builder) pointer(name string, pointer *types.Pointer, word string, at place) ir.Merging {
	elem := types.Unalias(pointer.Elem())
	if slice, ok := elem.Underlying().(*types.Slice); ok && b.grows(name, elem, word) {
		switch rule := b.list(name, elem, slice, word, at).(type) {
		case ir.Concat:
			rule.Behind = b.valueOf(elem, at)
			return rule
		case ir.Keyed:
			rule.Behind = b.valueOf(elem, at)
			return rule
		}
		return nil
	}
	if b.refuse(word, "a pointer: nil is not set", at) {
		return nil
	}
	named, _ := elem.(*types.Named)
	if named == nil || !b.handWritten(named) {
		switch elem.Underlying().(type) {
		case *types.Basic, *types.Slice:
		case *types.Struct:
			return b.nested(elem, true, at)
		default:
			b.unsupported(pointer, at)
			return nil
		}
	}
	if v := b.valueOf(pointer, at); v != nil {
		return ir.Replace{Value: v, Set: ir.NotNil}
	}
	return nil
}

// opaque returns the rule of a type with a hand-written Equal: it is a leaf.
func (b *builder) opaque(name string, named *types.Named, word string, at place) ir.Merging {
	v := b.valueOf(named, at)
	if v == nil {
		return nil
	}
	if basic, ok := named.Underlying().(*types.Basic); ok {
		return b.scalar(named, basic, word, at)
	}
	if v.Nilable {
		switch {
		case appends(name):
			b.report(at, fmt.Sprintf("a list named Append... is appended to, but %s has its own Equal and is replaced", named.Obj().Name()),
				"rename the field or use a type without them")
			return nil
		case b.refuse(word, "a type with its own Equal", at):
			return nil
		}
		return ir.Replace{Value: v, Set: ir.NotNil}
	}
	switch word {
	case wordReplace:
		return ir.Replace{Value: v, Set: ir.Always}
	case wordNone:
		b.report(at, fmt.Sprintf("%s has its own Equal and no value for not set", named.Obj().Name()),
			`use a pointer, or tag it policyMerge:"replace" (always set)`)
	default:
		b.refuse(word, "a struct with its own Equal", at)
	}
	return nil
}

func (b *builder) nested(t types.Type, pointer bool, at place) ir.Merging {
	named, ok := t.(*types.Named)
	if !ok {
		b.report(at, "a struct without a name cannot be merged", "declare it as a type")
		return nil
	}
	s := b.structOf(named, at)
	switch {
	case s == nil:
		return nil
	case len(s.Keys) > 0:
		b.reportKeys(named.Obj())
		return nil
	case s.Union && !pointer:
		b.report(at, "a union that is always present has no arm in an empty conf", "use a pointer to "+named.Obj().Name())
		return nil
	}
	return ir.Nested{Struct: s, Pointer: pointer}
}
