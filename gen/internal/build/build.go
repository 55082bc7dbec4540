package build

import (
	"fmt"
	"go/token"
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
		s := b.structOf(root.Type().(*types.Named), at)
		if s == nil {
			continue
		}
		switch {
		case s.Union:
			b.report(at, "a root type can not be a union", "wrap it: a field with a pointer to the union")
		case len(s.Keys) > 0:
			b.reportKeys(root)
		}
		b.checkAlwaysPresent(s, at, root)
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

// place is where an error is reported: the path from the root, and the field.
type place struct {
	path string
	pos  token.Pos
}

func (at place) field(name string, pos token.Pos) place {
	return place{path: at.path + "." + name, pos: pos}
}

func (b *builder) report(at place, what, hint string) {
	b.problems.Add(diag.Diagnostic{Pos: b.pkg.Position(at.pos), Path: at.path, What: what, Hint: hint})
}

// fieldPlace is the place of a field of a struct. An unexported field of
// another package is an error of the place that uses the struct.
func (b *builder) fieldPlace(named *types.Named, field *types.Var, at place) place {
	if !field.Exported() && named.Obj().Pkg() != b.pkg.Types {
		return at
	}
	return at.field(field.Name(), field.Pos())
}

func (b *builder) reportUnexported(named *types.Named, field *types.Var, at place) {
	if named.Obj().Pkg() != b.pkg.Types {
		b.report(at, fmt.Sprintf("%s.%s has unexported fields", named.Obj().Pkg().Name(), named.Obj().Name()), "use a type of your own, or one with Equal, Hash and Clone")
		return
	}
	b.report(at, "an unexported field can not be merged or copied", fmt.Sprintf("export it, or write Equal, Hash and Clone for %s by hand", named.Obj().Name()))
}
