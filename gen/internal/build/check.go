package build

import (
	"fmt"
	"go/types"
	"slices"

	"github.com/meshmatch/meshmatch/gen/internal/ir"
)

// checkRootNames reports hand-written declarations with names that are generated.
func (b *builder) checkRootNames(root *types.TypeName, at place) {
	methods := types.NewMethodSet(types.NewPointer(root.Type()))
	for _, name := range methodNames {
		if m := methods.Lookup(root.Pkg(), name); m != nil {
			b.report(place{path: at.path + "." + name, pos: m.Obj().Pos()},
				fmt.Sprintf("%s of a root type is generated", name), "remove it, or the directive")
		}
	}
	if other := root.Pkg().Scope().Lookup(ir.MergerName(root.Name())); other != nil {
		b.report(place{path: other.Name(), pos: other.Pos()}, "the generated merger has this name", "rename it")
	}
}

// checkMethod reports a type in v whose hand-written methods lack one that the
// generated code needs.
func (b *builder) checkMethod(name string, v *ir.Value, at place, has func(ir.Methods) bool) {
	path, typ := lacks(v, at.path, has, map[*ir.Value]bool{})
	if path == "" {
		return
	}
	at.path = path
	b.report(at, fmt.Sprintf("%s has its own Equal and no %s, which is needed here", typ, name), fmt.Sprintf("write %s for %s by hand", name, typ))
}

// checkBuiltins reports declarations that hide a builtin from the generated
// code. A declaration in a test is reported at the first root type.
func (b *builder) checkBuiltins() {
	for _, name := range ir.Builtins {
		if !b.pkg.Declared[name] {
			continue
		}
		at := place{path: name, pos: b.pkg.Roots[0].Pos()}
		if object := b.pkg.Types.Scope().Lookup(name); object != nil {
			at.pos = object.Pos()
		}
		b.report(at, fmt.Sprintf("the generated code uses the builtin %s, which the package redeclares", name), "rename it")
	}
}

// checkAlwaysPresent reports scalars with the tag replace that are not in a pointer,
// entry or element that can be absent. The empty conf would overwrite them, but it must
// not change a conf.
func (b *builder) checkAlwaysPresent(s *ir.Struct, named *types.Named, at place) {
	under := named.Underlying().(*types.Struct)
	for i := range under.NumFields() {
		field := under.Field(i)
		at := b.fieldPlace(named, field, at)
		for _, f := range s.Fields {
			if f.Name != field.Name() {
				continue
			}
			switch rule := f.Rule.(type) {
			case ir.Replace:
				if rule.Set == ir.Always {
					b.report(at, "is set in every conf: an empty one would overwrite it",
						`use a pointer or policyMerge:"omitzero", or put it into a struct that a pointer refers to`)
				}
			case ir.Nested:
				if named, ok := types.Unalias(field.Type()).(*types.Named); ok && !rule.Pointer {
					b.checkAlwaysPresent(rule.Struct, named, at)
				}
			}
		}
	}
}

// reportKeys reports the keys of a struct that is used anywhere except in a list that
// merges by key.
func (b *builder) reportKeys(object *types.TypeName) {
	under := object.Type().Underlying().(*types.Struct)
	s := b.structs[object].ir
	for i := range under.NumFields() {
		field := under.Field(i)
		if slices.Contains(s.Keys, field.Name()) {
			at := place{path: object.Name() + "." + field.Name(), pos: field.Pos()}
			b.report(at, fmt.Sprintf("policyMerge:%q has no effect: %s is used outside of a list that merges by key", wordKey, object.Name()),
				"use a different type there")
		}
	}
}
