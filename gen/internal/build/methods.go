package build

import (
	"fmt"
	"go/types"

	"github.com/meshmatch/meshmatch/gen/internal/ir"
)

// methodNames are the methods that are generated for root types, and that other
// types may bring, all three.
var methodNames = [...]string{"Equal", "Hash", "Clone"}

// handWritten reports whether a type brings its own Equal, Hash and Clone. The
// methods of a root type are generated whatever it brings.
func (b *builder) handWritten(named *types.Named) bool {
	_, all := handWrittenMethods(named)
	return all && !b.roots[named.Obj()]
}

// handWrittenMethods finds Equal(T) or Equal(*T) bool, Hash() uint64 and
// Clone() of T or *T. Generated ones are not seen: their files are loaded
// without declarations.
func handWrittenMethods(named *types.Named) (m ir.Methods, all bool) {
	equal, hash, clone := method(named, "Equal"), method(named, "Hash"), method(named, "Clone")
	if equal == nil || hash == nil || clone == nil ||
		equal.Params().Len() != 1 || equal.Results().Len() != 1 || !isBasic(equal.Results().At(0).Type(), types.Bool) ||
		hash.Params().Len() != 0 || hash.Results().Len() != 1 || !isBasic(hash.Results().At(0).Type(), types.Uint64) ||
		clone.Params().Len() != 0 || clone.Results().Len() != 1 {
		return m, false
	}
	var ok1, ok2 bool
	m.EqualPointer, ok1 = selfOrPointer(equal.Params().At(0).Type(), named)
	m.ClonePointer, ok2 = selfOrPointer(clone.Results().At(0).Type(), named)
	return m, ok1 && ok2
}

// method returns the signature of a method of *named that is not promoted, or
// nil.
func method(named *types.Named, name string) *types.Signature {
	set := types.NewMethodSet(types.NewPointer(named))
	if selection := set.Lookup(named.Obj().Pkg(), name); selection != nil && len(selection.Index()) == 1 {
		return selection.Type().(*types.Signature)
	}
	return nil
}

// reportSomeMethods reports a type with some of the three methods, or with
// other signatures: its author expects them to be called.
func (b *builder) reportSomeMethods(named *types.Named, at place) bool {
	name := types.TypeString(named, b.qualify)
	hint := fmt.Sprintf("write Equal(%[1]s) bool, Hash() uint64 and Clone() %[1]s, or use a type without them", name)
	if named.Obj().Pkg() != b.pkg.Types {
		hint = "use a type of your own, with all of them or none"
	}
	for _, m := range methodNames {
		if method(named, m) != nil {
			b.report(at, fmt.Sprintf("%s has %s, but not all of Equal, Hash and Clone, and none would be called", name, m), hint)
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
