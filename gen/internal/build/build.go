package build

import (
	"go/types"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/meshmatch/meshmatch/gen/internal/diag"
	"github.com/meshmatch/meshmatch/gen/internal/ir"
	"github.com/meshmatch/meshmatch/gen/internal/load"
)

// Package returns the IR of the root types of pkg. It is incomplete if problems were
// added.
func Package(pkg *load.Package, problems *diag.List) *ir.Package {
	b := &builder{
		pkg:      pkg,
		problems: problems,
		roots:    make(map[*types.TypeName]bool),
		structs:  make(map[*types.TypeName]*structState),
	}
	for _, root := range pkg.Roots {
		b.roots[root.TypeName] = true
	}
	result := &ir.Package{Path: pkg.Path, Name: pkg.Name, Declared: pkg.Declared, Imported: pkg.Imported}
	for _, root := range pkg.Roots {
		at := place{path: root.Name(), pos: root.Pos()}
		b.checkRootNames(root.TypeName, at)
		named := root.Type().(*types.Named)
		s := b.structOf(named, at)
		if s == nil {
			continue
		}
		switch {
		case s.Union:
			b.report(at, "a root type cannot be a union", "wrap it: a field with a pointer to the union")
		case len(s.Keys) > 0:
			b.reportKeys(root.TypeName)
		}
		b.checkAlwaysPresent(s, named, at)
		if root.Hash {
			b.checkMethod("Hash", s.Value, at, hasHash)
		}
		if root.Clone {
			b.checkMethod("Clone", s.Value, at, hasClone)
		}
		result.Roots = append(result.Roots, &ir.Root{Struct: s, Value: s.Value, Hash: root.Hash, Clone: root.Clone})
	}
	b.checkUnreadTags()
	b.checkBuiltins()
	return result
}

type builder struct {
	pkg      *load.Package
	problems *diag.List
	roots    map[*types.TypeName]bool
	values   typeutil.Map // to *ir.Value, one for identical types
	structs  map[*types.TypeName]*structState
	// visited are the named structs of this package that are parts of values, in
	// the order of their first use; see checkUnreadTags.
	visited []*types.Named
}

// structState is a merged struct.
type structState struct {
	ir     *ir.Struct // nil while it is being built
	failed bool
}
