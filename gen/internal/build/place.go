package build

import (
	"fmt"
	"go/token"
	"go/types"

	"github.com/meshmatch/meshmatch/gen/internal/diag"
)

// place identifies a field in an error: its path from the root and its position.
type place struct {
	path string
	pos  token.Pos
	// foreign is the struct of another package that contains the field, or "".
	foreign string
}

func (at place) field(name string, pos token.Pos) place {
	at.path, at.pos = at.path+"."+name, pos
	return at
}

// elem returns the place of the elements of a list or map.
func (at place) elem() place {
	at.path += "[]"
	return at
}

func (b *builder) report(at place, what, hint string) {
	if at.foreign != "" && hint != "" {
		hint += fmt.Sprintf("; or use your own type instead of %s", at.foreign)
	}
	b.problems.Add(diag.Diagnostic{Pos: b.pkg.Position(at.pos), Path: at.path, What: what, Hint: hint})
}

// fieldPlace returns the place of a field of a struct. For an unexported field of
// another package it returns the place that uses the struct.
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

func (b *builder) reportUnexported(named *types.Named, at place) {
	switch {
	case named.Obj().Pkg() != b.pkg.Types:
		b.report(at, types.TypeString(named, b.qualify)+" has unexported fields", "use your own type, or one with an Equal")
	case b.roots[named.Obj()]:
		b.report(at, "an unexported field cannot be merged or copied", "export or remove it")
	default:
		b.report(at, "an unexported field cannot be merged or copied", fmt.Sprintf("export it, or write an Equal for %s by hand", named.Obj().Name()))
	}
}

// qualify names packages in messages.
func (b *builder) qualify(p *types.Package) string {
	if p == b.pkg.Types {
		return ""
	}
	return p.Name()
}
