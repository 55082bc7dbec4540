package emit

import (
	"bytes"
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/meshmatch/meshmatch/gen/internal/ir"
)

const lawsPath = "github.com/meshmatch/meshmatch/gen/laws"

// TestFile returns the law tests of a package, gofmt'd.
func TestFile(pkg *ir.Package) ([]byte, error) {
	file := jen.NewFilePathName(pkg.Path, pkg.Name)
	file.HeaderComment(Header)
	for _, i := range []struct{ path, name string }{{"testing", "testing"}, {lawsPath, "laws"}} {
		if pkg.Declared[i.name] {
			file.ImportAlias(i.path, i.name+"pkg")
			continue
		}
		file.ImportName(i.path, i.name)
	}
	names := newNames(pkg.Declared, pkg.Imported)
	for _, root := range pkg.Roots {
		name := root.Value.Name
		test, _ := names.nameFor(name, "TestGenerated"+root.Value.Ident+"Laws")
		file.Func().Id(test).
			Params(jen.Id("t").Op("*").Qual("testing", "T")).Block(
			jen.Qual(lawsPath, "Check").Types(jen.Id(name), jen.Id(root.Merger())).Call(jen.Id("t")))
		file.Line()
	}
	var out bytes.Buffer
	if err := file.Render(&out); err != nil {
		return nil, fmt.Errorf("generated test for %s: %w", pkg.Path, err)
	}
	return out.Bytes(), nil
}

// hasUnion reports whether s, or a struct that is merged inside it, is a union.
func hasUnion(s *ir.Struct) bool {
	if s.Union {
		return true
	}
	for _, f := range s.Fields {
		var inner *ir.Struct
		switch rule := f.Rule.(type) {
		case ir.Nested:
			inner = rule.Struct
		case ir.Keyed:
			inner = rule.Elem
		case ir.Map:
			inner = rule.Struct
		}
		if inner != nil && hasUnion(inner) {
			return true
		}
	}
	return false
}
