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

// place is where an error is reported: the path from the root, and the field.
type place struct {
	path string
	pos  token.Pos
	// foreign is the struct of another package that the field is in, or "".
	foreign string
}

func (at place) field(name string, pos token.Pos) place {
	at.path, at.pos = at.path+"."+name, pos
	return at
}

// elem is the place of the elements of a list or map.
func (at place) elem() place {
	at.path += "[]"
	return at
}

func (b *builder) report(at place, what, hint string) {
	if at.foreign != "" && hint != "" {
		hint += fmt.Sprintf("; or use a type of your own and not %s", at.foreign)
	}
	b.problems.Add(diag.Diagnostic{Pos: b.pkg.Position(at.pos), Path: at.path, What: what, Hint: hint})
}

// fieldPlace is the place of a field of a struct. An unexported field of
// another package is an error of the place that uses the struct.
func (b *builder) fieldPlace(named *types.Named, field *types.Var, at place) place {
	foreign := named.Obj().Pkg() != b.pkg.Types
	if foreign && !field.Exported() {
		return at
	}
	at = at.field(field.Name(), field.Pos())
	if foreign {
		at.foreign = types.TypeString(named, b.qualify)
	}
	return at
}

func (b *builder) reportUnexported(named *types.Named, field *types.Var, at place) {
	if named.Obj().Pkg() != b.pkg.Types {
		b.report(at, types.TypeString(named, b.qualify)+" has unexported fields", "use a type of your own, or one with Equal, Hash and Clone")
		return
	}
	b.report(at, "an unexported field can not be merged or copied", fmt.Sprintf("export it, or write Equal, Hash and Clone for %s by hand", named.Obj().Name()))
}
