package build

import (
	"go/types"

	"github.com/meshmatch/meshmatch/gen/internal/ir"
)

// handWritten reports whether a type brings its own Equal, Hash and Clone. The
// methods of a root type are generated whatever it brings.
func (b *builder) handWritten(named *types.Named) bool {
	_, ok := handWrittenMethods(named)
	return ok && !b.roots[named.Obj()]
}

// handWrittenMethods finds Equal(T) or Equal(*T), Hash() uint64 and Clone() of
// T or *T. All three have to be there. Generated ones are not seen: their
// files are loaded without declarations.
func handWrittenMethods(named *types.Named) (ir.Methods, bool) {
	var m ir.Methods
	set := types.NewMethodSet(types.NewPointer(named))
	signature := func(name string) *types.Signature {
		if selection := set.Lookup(named.Obj().Pkg(), name); selection != nil && len(selection.Index()) == 1 {
			return selection.Type().(*types.Signature)
		}
		return nil
	}
	equal, hash, clone := signature("Equal"), signature("Hash"), signature("Clone")
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

func selfOrPointer(t types.Type, named *types.Named) (pointer, ok bool) {
	elem, pointer := dereference(t)
	return pointer, types.Identical(elem, named)
}

func isBasic(t types.Type, kind types.BasicKind) bool {
	basic, ok := types.Unalias(t).(*types.Basic)
	return ok && basic.Kind() == kind
}
