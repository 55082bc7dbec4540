package build

import (
	"fmt"
	"go/types"

	"github.com/meshmatch/meshmatch/gen/internal/ir"
)

// methodNames are the methods that the generated code calls if a type has them.
var methodNames = [...]string{"Equal", "Hash", "Clone"}

// handWritten reports whether a type has its own Equal. The methods of a root
// type are generated.
func (b *builder) handWritten(named *types.Named) bool {
	_, ok := handWrittenMethods(named)
	return ok && !b.roots[named.Obj()]
}

// handWrittenMethods finds Equal(T) or Equal(*T) bool and, in addition, Hash() uint64
// and Clone() of T or *T. ok reports whether there is an Equal and every other of
// these methods, if present, has such a signature. Generated methods are not found:
// their files are loaded without declarations.
func handWrittenMethods(named *types.Named) (m ir.Methods, ok bool) {
	equal, hash, clone := method(named, "Equal"), method(named, "Hash"), method(named, "Clone")
	if equal == nil || equal.Params().Len() != 1 || equal.Results().Len() != 1 || !isBasic(equal.Results().At(0).Type(), types.Bool) {
		return m, false
	}
	if m.EqualPointer, ok = selfOrPointer(equal.Params().At(0).Type(), named); !ok {
		return m, false
	}
	if m.Hash = hash != nil; m.Hash && (hash.Params().Len() != 0 || hash.Results().Len() != 1 || !isBasic(hash.Results().At(0).Type(), types.Uint64)) {
		return m, false
	}
	if m.Clone = clone != nil; m.Clone {
		if clone.Params().Len() != 0 || clone.Results().Len() != 1 {
			return m, false
		}
		m.ClonePointer, ok = selfOrPointer(clone.Results().At(0).Type(), named)
	}
	return m, ok
}

// lacks returns the path in v, starting with path, of the first value without a
// required hand-written method. It also returns the name of the value's type.
func lacks(v *ir.Value, path string, has func(ir.Methods) bool, seen map[*ir.Value]bool) (at, typ string) {
	if v == nil || seen[v] {
		return "", ""
	}
	seen[v] = true
	if v.Kind == ir.Opaque && !has(v.Methods) {
		return path, v.Name
	}
	for _, f := range v.Fields {
		if at, typ := lacks(f.Value, path+"."+f.Name, has, seen); at != "" {
			return at, typ
		}
	}
	if v.Kind != ir.Pointer {
		path += "[]"
	}
	return lacks(v.Elem, path, has, seen)
}

func hasHash(m ir.Methods) bool  { return m.Hash }
func hasClone(m ir.Methods) bool { return m.Clone }

// method returns the signature of a method that *named declares itself, or nil.
func method(named *types.Named, name string) *types.Signature {
	set := types.NewMethodSet(types.NewPointer(named))
	if selection := set.Lookup(named.Obj().Pkg(), name); selection != nil && len(selection.Index()) == 1 {
		return selection.Type().(*types.Signature)
	}
	return nil
}

// reportSomeMethods reports a type that has methods of these names, but no Equal
// that can be called.
func (b *builder) reportSomeMethods(named *types.Named, at place) bool {
	name := types.TypeString(named, b.qualify)
	hint := fmt.Sprintf("write Equal(%[1]s) bool and, if they are needed, Hash() uint64 and Clone() %[1]s; or use a type without such methods", name)
	if named.Obj().Pkg() != b.pkg.Types {
		hint = "use your own type"
	}
	for _, m := range methodNames {
		if method(named, m) != nil {
			b.report(at, fmt.Sprintf("%s has a method %s that the generated code cannot call: there is no Equal, or a signature is not the expected one", name, m), hint)
			return true
		}
	}
	return false
}

func selfOrPointer(t types.Type, named *types.Named) (pointer, ok bool) {
	elem, pointer := dereference(t)
	return pointer, types.Identical(elem, named)
}

func isBasic(t types.Type, kind types.BasicKind) bool {
	basic, ok := types.Unalias(t).(*types.Basic)
	return ok && basic.Kind() == kind
}

func isListOrMap(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Slice, *types.Map:
		return true
	}
	return false
}
