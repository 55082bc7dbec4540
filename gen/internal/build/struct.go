package build

import (
	"fmt"
	"go/types"

	"github.com/meshmatch/meshmatch/gen/internal/ir"
)

// structOf returns the merged struct of a named type, or nil after an error.
func (b *builder) structOf(named *types.Named, at place) *ir.Struct {
	object := named.Obj()
	if named.TypeArgs().Len() > 0 {
		b.report(at, "generic types cannot be merged", "write the type out")
		return nil
	}
	if state, ok := b.structs[object]; ok {
		switch {
		case state.failed:
			return nil
		case state.ir == nil:
			b.report(at, fmt.Sprintf("%s contains itself", object.Name()),
				"a conf merges field by field and needs a finite depth; use a list of it, which is replaced whole")
		}
		return state.ir
	}
	state := &structState{}
	b.structs[object] = state
	before := b.problems.Len()
	s := &ir.Struct{}
	under := named.Underlying().(*types.Struct)
	b.checkUntaggedUnion(named, at)
	jsonNames := make(map[string]string)
	for i := range under.NumFields() {
		field := under.Field(i)
		at := b.fieldPlace(named, field, at)
		if !field.Exported() {
			b.reportUnexported(named, at)
			continue
		}
		if f, ok := b.field(s, field, under.Tag(i), jsonNames, at); ok {
			s.Fields = append(s.Fields, f)
		}
	}
	b.checkUnion(s, named, at)
	s.Value = b.valueOf(named, at)
	if b.problems.Len() > before || s.Value == nil {
		state.failed = true
		return nil
	}
	s.Leaves = leaves(s)
	state.ir = s
	return s
}

// field returns one field with its rule.
func (b *builder) field(s *ir.Struct, field *types.Var, tag string, jsonNames map[string]string, at place) (ir.Field, bool) {
	if field.Embedded() {
		b.report(at, "embedded structs cannot be merged", "give the field a name")
		return ir.Field{}, false
	}
	json, ok := b.jsonName(field, tag, jsonNames, at)
	if !ok {
		return ir.Field{}, false
	}
	word, ok := b.policyMerge(tag, at)
	if !ok {
		return ir.Field{}, false
	}
	switch word {
	case wordKey:
		s.Keys = append(s.Keys, field.Name())
	case wordDiscriminator:
		if s.Union {
			b.reportSecondDiscriminator(at)
			return ir.Field{}, false
		}
		s.Union = true
	}
	rule := b.rule(field, word, at)
	if leaf, ok := rule.(ir.Replace); ok && leaf.Set == ir.NotZero && !optional(tag) {
		b.report(at, "zero is not set, but the field is required in files, because its json tag has no omitzero", fmt.Sprintf("tag it `json:\"%s,omitzero\"`", json))
		return ir.Field{}, false
	}
	return ir.Field{Name: field.Name(), JSON: json, Rule: rule}, rule != nil
}

// leaves returns the number of leaves that must be set before s is complete.
func leaves(s *ir.Struct) int {
	if s.Union {
		return ir.Endless
	}
	n := 0
	for _, f := range s.Fields {
		switch rule := f.Rule.(type) {
		case ir.Replace:
			n++
		case ir.Nested:
			switch inner := rule.Struct.Leaves; {
			case inner == ir.Endless:
				return ir.Endless
			case inner == 0 && rule.Pointer:
				n++ // the presence of the pointer
			default:
				n += inner
			}
		default:
			return ir.Endless
		}
	}
	return n
}
