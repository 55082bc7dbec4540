package core_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

// TestFlags finds flags in the messages of packages that embedders and HTTP clients use:
// an error names a field or an option, and the command line spells it as a flag. The
// command line is excluded, what runs commands (in tests, and of git for measurements), and
// the text of pages.
func TestFlags(t *testing.T) {
	flag := regexp.MustCompile(`(^|[^\w-])--[a-z]`)
	commands := regexp.MustCompile(`^core/(internal/(usage|xds/envoytest)/|app/(benchworld|packaging/release|internal/((benchworld|cli|e2e|peers|replicas)|source/\w+/(etcdtest|kubetest)))/)`)
	for path, text := range sources(t, ".go") {
		path = strings.TrimPrefix(path, "../")
		if !strings.HasPrefix(path, "core/") || commands.MatchString(path) || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_templ.go") {
			continue
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING && flag.MatchString(literal.Value) {
				t.Errorf("%s: %s names a flag; name the field or the option", files.Position(literal.Pos()), literal.Value)
			}
			return true
		})
	}
}
