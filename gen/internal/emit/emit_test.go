package emit_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/meshmatch/meshmatch/gen/internal/build"
	"github.com/meshmatch/meshmatch/gen/internal/diag"
	"github.com/meshmatch/meshmatch/gen/internal/emit"
	"github.com/meshmatch/meshmatch/gen/internal/ir"
	"github.com/meshmatch/meshmatch/gen/internal/load"
	"github.com/meshmatch/meshmatch/gen/internal/scenario"
)

// TestGeneratedCode generates the packages of all scenarios in one run.
func TestGeneratedCode(t *testing.T) {
	all := scenario.All(t)
	files := generate(t, all)
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			for _, name := range []string{load.CodeFile, load.TestFile} {
				s.Expect(t, "want/"+name, string(files[filepath.Join(s.Dir, name)]))
			}
		})
	}
	t.Run("compiles", func(t *testing.T) { typeCheck(t, all, files) })
	t.Run("uses the reserved builtins", func(t *testing.T) { usesBuiltins(t, files) })
	t.Run("is deterministic", func(t *testing.T) {
		slices.Reverse(all)
		for path, content := range generate(t, all) {
			if !bytes.Equal(content, files[path]) {
				t.Errorf("%s differs in a second run", path)
			}
		}
	})
}

// generate returns the generated files of scenarios by their paths.
func generate(t *testing.T, all []scenario.Scenario) map[string][]byte {
	t.Helper()
	var problems diag.List
	files := make(map[string][]byte)
	for _, pkg := range scenario.Load(t, all, &problems) {
		built := build.Package(pkg, &problems)
		for _, d := range problems.Sorted() {
			t.Fatal(d)
		}
		for name, print := range map[string]func(*ir.Package) ([]byte, error){load.CodeFile: emit.File, load.TestFile: emit.TestFile} {
			content, err := print(built)
			if err != nil {
				t.Fatal(err)
			}
			files[filepath.Join(pkg.Dir, name)] = content
		}
	}
	return files
}

// typeCheck type-checks the scenarios with their generated files, tests included.
func typeCheck(t *testing.T, all []scenario.Scenario, files map[string][]byte) {
	cfg := scenario.Config(all)
	maps.Copy(cfg.Overlay, files)
	loaded, err := packages.Load(&packages.Config{
		Mode:    packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo,
		Tests:   true,
		Overlay: cfg.Overlay,
	}, cfg.Patterns...)
	if err != nil {
		t.Fatal(err)
	}
	packages.Visit(loaded, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			t.Error(e)
		}
	})
	if len(loaded) < 2*len(all) {
		t.Errorf("%d packages, tests included, of %d scenarios", len(loaded), len(all))
	}
}

// usesBuiltins checks that the predeclared names in generated code are exactly those
// that packages may not redeclare.
func usesBuiltins(t *testing.T, files map[string][]byte) {
	used := make(map[string]bool)
	for path, content := range files {
		if filepath.Base(path) != load.CodeFile {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), path, content, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && types.Universe.Lookup(id.Name) != nil {
				used[id.Name] = true
			}
			return true
		})
	}
	for _, name := range ir.Builtins {
		if !used[name] {
			t.Errorf("%s is reserved and not used", name)
		}
		delete(used, name)
	}
	for name := range used {
		if _, scalar := types.Universe.Lookup(name).(*types.TypeName); !scalar {
			t.Errorf("%s is used and not reserved", name)
		}
	}
}
