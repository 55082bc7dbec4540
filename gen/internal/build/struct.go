package build

import (
	"fmt"
	"go/types"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/meshmatch/meshmatch/gen/internal/ir"
)

// structOf returns the merged struct of a named type, or nil after an error.
func (b *builder) structOf(named *types.Named, at place) *ir.Struct {
	object := named.Obj()
	if named.TypeArgs().Len() > 0 {
		b.report(at, "generic types can not be merged", "write the type out")
		return nil
	}
	if state, ok := b.structs[object]; ok {
		switch {
		case state.failed:
			return nil
		case state.ir == nil:
			b.report(at, fmt.Sprintf("%s contains itself", object.Name()),
				"a conf merges field by field and has to end somewhere; use a list of it, which is replaced whole")
		}
		return state.ir
	}
	state := &structState{}
	b.structs[object] = state
	before := b.problems.Len()
	s := &ir.Struct{}
	under := named.Underlying().(*types.Struct)
	jsonNames := make(map[string]string)
	for i := range under.NumFields() {
		field := under.Field(i)
		at := b.fieldPlace(named, field, at)
		if !field.Exported() {
			b.reportUnexported(named, field, at)
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
		b.report(at, "embedded structs can not be merged", "give the field a name")
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
	return ir.Field{Name: field.Name(), JSON: json, Rule: rule}, rule != nil
}

// jsonName returns the name of the field in JSON, of which the pointers of
// leaves are made.
func (b *builder) jsonName(field *types.Var, tag string, names map[string]string, at place) (string, bool) {
	name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	switch {
	case name == "" || name == "-":
		first, size := utf8.DecodeRuneInString(field.Name())
		wanted := string(unicode.ToLower(first)) + field.Name()[size:]
		b.report(at, "has no name in JSON", fmt.Sprintf("tag it `json:\"%s,omitzero\"`; origins are reported under that name", wanted))
		return "", false
	case names[name] != "":
		b.report(at, fmt.Sprintf("has the JSON name %q of the field %s", name, names[name]), "give each field a name of its own")
		return "", false
	}
	names[name] = field.Name()
	return name, true
}

// checkUnion checks the arms: each has to be absent when it is not the one.
func (b *builder) checkUnion(s *ir.Struct, named *types.Named, at place) {
	if !s.Union {
		return
	}
	under := named.Underlying().(*types.Struct)
	for i := range under.NumFields() {
		field := under.Field(i)
		at := b.fieldPlace(named, field, at)
		index := slices.IndexFunc(s.Fields, func(f ir.Field) bool { return f.Name == field.Name() })
		if index < 0 {
			continue
		}
		switch rule := s.Fields[index].Rule.(type) {
		case ir.Discriminator:
			continue
		case ir.Replace:
			if rule.Set == ir.NotNil || slices.Contains(s.Keys, field.Name()) {
				continue // elements with another key do not meet
			}
		case ir.Nested:
			if rule.Pointer {
				continue
			}
		case ir.Concat, ir.Keyed:
			continue
		}
		b.report(at, "an arm of a union must be a pointer or a list", "nil says that it is not the arm in use")
	}
}

// leaves counts what has to be set before s is complete.
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
				n++ // its presence
			default:
				n += inner
			}
		default:
			return ir.Endless
		}
	}
	return n
}
