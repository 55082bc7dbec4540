package build

import (
	"go/types"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/meshmatch/meshmatch/gen/internal/diag"
	"github.com/meshmatch/meshmatch/gen/internal/ir"
	"github.com/meshmatch/meshmatch/gen/internal/load"
)

// Package returns the IR of the root types of pkg. It is complete only if
// nothing was added to problems.
func Package(pkg *load.Package, problems *diag.List) *ir.Package {
	b := &builder{
		pkg:      pkg,
		problems: problems,
		roots:    make(map[*types.TypeName]bool),
		structs:  make(map[*types.TypeName]*structState),
	}
	for _, root := range pkg.Roots {
		b.roots[root] = true
	}
	result := &ir.Package{Path: pkg.Path, Name: pkg.Name, Declared: pkg.Declared, Imported: pkg.Imported}
	for _, root := range pkg.Roots {
		at := place{path: root.Name(), pos: root.Pos()}
		b.checkRootNames(root, at)
		named := root.Type().(*types.Named)
		s := b.structOf(named, at)
		if s == nil {
			continue
		}
		switch {
		case s.Union:
			b.report(at, "a root type can not be a union", "wrap it: a field with a pointer to the union")
		case len(s.Keys) > 0:
			b.reportKeys(root)
		}
		b.checkAlwaysPresent(s, named, at)
		result.Roots = append(result.Roots, &ir.Root{Struct: s, Value: s.Value})
	}
	b.checkUnreadTags()
	b.checkBuiltins()
	return result
}

type builder struct {
	pkg      *load.Package
	problems *diag.List
	roots    map[*types.TypeName]bool
	values   typeutil.Map // to *ir.Value: identical types have one
	structs  map[*types.TypeName]*structState
	// visited are the named structs of this package in the order in which
	// values met them, for the tags that nothing reads.
	visited []*types.Named
}

// structState is a merged struct.
type structState struct {
	ir     *ir.Struct // nil while it is being built
	failed bool
}
