package emit

import (
	"fmt"

	"github.com/meshmatch/meshmatch/gen/internal/ir"
)

const lawsPath = "github.com/meshmatch/meshmatch/gen/laws"

// TestFile returns the law tests of a package, gofmt'd.
func TestFile(pkg *ir.Package) ([]byte, error) {
	e := newEmitter(pkg)
	e.importName("testing", "testing")
	e.importName(lawsPath, "laws")
	for _, root := range pkg.Roots {
		name := root.Value.Name
		test, _ := e.names.of(name, "TestGenerated"+root.Value.Ident+"Laws")
		e.print(fmt.Sprintf("func %[1]s(t *%[2]s) {\n%[3]s[%[4]s, %[4]sMerger](t)\n}", test, qual("testing", "T"), qual(lawsPath, "Check"), name))
	}
	return e.render("test", pkg.Path)
}

// hasUnion reports whether s, or a struct that is merged in it, is a union.
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
