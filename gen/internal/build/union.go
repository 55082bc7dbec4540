package build

import (
	"fmt"
	"go/constant"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/gen/internal/ir"
)

// checkUnion reports fields that cannot be arms of a union, and a union without arms.
func (b *builder) checkUnion(s *ir.Struct, named *types.Named, at place) {
	if !s.Union {
		return
	}
	under := named.Underlying().(*types.Struct)
	if under.NumFields()-len(s.Keys) == 1 {
		b.report(at, fmt.Sprintf("%s has a discriminator and no arm", named.Obj().Name()), "add a pointer to a struct for each arm, or use a type without the tag")
	}
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
				continue // elements with different keys are not merged
			}
		case ir.Nested:
			if rule.Pointer {
				continue
			}
		case ir.Concat, ir.Keyed:
			continue
		}
		b.report(at, "an arm of a union must be a pointer or a list", "nil means that another arm is in use")
	}
}

// checkUntaggedUnion reports a field that looks like a discriminator, if none is
// tagged. Its type has constants with the names of two or more of the other fields:
// arms of two types would be merged. An example:
//
//	Type Type  `json:"type"` // const Tcp, File Type = "Tcp", "File"
//	TCP  *TCP  `json:"tcp,omitzero"`
//	File *File `json:"file,omitzero"`
func (b *builder) checkUntaggedUnion(named *types.Named, at place) {
	under := named.Underlying().(*types.Struct)
	arms := make(map[string]bool) // by their lower case names in JSON
	for i := range under.NumFields() {
		tag := reflect.StructTag(under.Tag(i))
		if tag.Get(tagKey) == wordDiscriminator {
			return
		}
		name, _, _ := strings.Cut(tag.Get("json"), ",")
		if _, pointer := dereference(under.Field(i).Type()); pointer {
			arms[strings.ToLower(name)] = true
		}
	}
	for i := range under.NumFields() {
		field := under.Field(i)
		t, _ := dereference(field.Type())
		words := slices.DeleteFunc(constantsOf(t), func(word string) bool { return !arms[strings.ToLower(word)] })
		if len(words) > 1 {
			b.report(b.fieldPlace(named, field, at),
				fmt.Sprintf("%s is a union without a discriminator: %s has the names of its arms, %s", named.Obj().Name(), field.Name(), strings.Join(words, " and ")),
				`make the field a string type and tag it policyMerge:"discriminator"`)
		}
	}
}

// constantsOf returns the values of the constants of a string type that its
// package declares, sorted by the names of the constants.
func constantsOf(t types.Type) []string {
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() == nil || !isString(named) {
		return nil
	}
	var values []string
	scope := named.Obj().Pkg().Scope()
	for _, name := range scope.Names() {
		if c, ok := scope.Lookup(name).(*types.Const); ok && types.Identical(c.Type(), named) {
			values = append(values, constant.StringVal(c.Val()))
		}
	}
	return values
}

func isString(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsString != 0
}
