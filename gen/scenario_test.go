package gen_test

import (
	"errors"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/txtar"

	"github.com/meshmatch/meshmatch/gen"
	"github.com/meshmatch/meshmatch/gen/internal/ir"
)

var update = flag.Bool("update", false, "write what is generated and reported into testdata")

// A scenario is a txtar file in testdata: a package, with its subpackages, and
// what is expected of it. want/errors has the errors, one a line; without it,
// want/zz_generated.conf.go and want/zz_generated.conf_test.go are generated.
//
// The packages do not exist on disk. They are laid over this module, so that
// they can import what a real one imports.
type scenario struct {
	name    string
	file    string
	archive *txtar.Archive
	dir     string
}

const wantErrors = "want/errors"

func scenarios(t *testing.T) []scenario {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	var all []scenario
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		dir, err := filepath.Abs(filepath.Join("internal", "scenario", name))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, scenario{name: name, file: file, archive: archive, dir: dir})
	}
	return all
}

// fails reports whether errors are expected.
func (s scenario) fails() bool { return strings.HasPrefix(s.name, "error_") }

// generate runs the generator over scenarios together.
func generate(all []scenario) ([]gen.File, error) {
	files, patterns := overlay(all)
	return gen.Generate(gen.Config{Patterns: patterns, Overlay: files})
}

// overlay returns the source files of scenarios and the patterns that name
// their packages.
func overlay(all []scenario) (files map[string][]byte, patterns []string) {
	files = make(map[string][]byte)
	for _, s := range all {
		patterns = append(patterns, s.dir)
		for _, f := range s.archive.Files {
			if !strings.HasPrefix(f.Name, "want/") {
				files[filepath.Join(s.dir, f.Name)] = f.Data
			}
		}
	}
	return files, patterns
}

// expect compares what came out with a file of the archive, or writes it
// there.
func (s scenario) expect(t *testing.T, name string, got []byte) {
	t.Helper()
	i := slices.IndexFunc(s.archive.Files, func(f txtar.File) bool { return f.Name == name })
	switch {
	case i >= 0 && string(s.archive.Files[i].Data) == string(got):
	case !*update && i < 0:
		t.Errorf("%s has no %s; run go test -update", s.file, name)
	case !*update:
		t.Errorf("%s: %s (-want +got):\n%s", s.file, name, cmp.Diff(string(s.archive.Files[i].Data), string(got)))
	default:
		if i < 0 {
			s.archive.Files = append(s.archive.Files, txtar.File{Name: name})
			i = len(s.archive.Files) - 1
		}
		s.archive.Files[i].Data = got
		if err := os.WriteFile(s.file, txtar.Format(s.archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGeneratedCode(t *testing.T) {
	all := slices.DeleteFunc(scenarios(t), scenario.fails)
	files, err := generate(all)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			for _, name := range []string{gen.CodeFile, gen.TestFile} {
				i := slices.IndexFunc(files, func(f gen.File) bool { return f.Path == filepath.Join(s.dir, name) })
				if i < 0 {
					t.Fatalf("%s was not generated", name)
				}
				s.expect(t, "want/"+name, files[i].Content)
			}
		})
	}
	t.Run("compiles", func(t *testing.T) { typeCheck(t, all, files) })
	t.Run("uses the builtins that are kept free", func(t *testing.T) { usesBuiltins(t, files) })
	t.Run("is the same again", func(t *testing.T) {
		slices.Reverse(all)
		again, err := generate(all)
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range again {
			if string(f.Content) != string(files[i].Content) {
				t.Errorf("%s differs in a second run", f.Path)
			}
		}
	})
}

// typeCheck type-checks the scenarios with what was generated for them, tests
// included.
func typeCheck(t *testing.T, all []scenario, files []gen.File) {
	cfg, patterns := overlay(all)
	for _, f := range files {
		cfg[f.Path] = f.Content
	}
	loaded, err := packages.Load(&packages.Config{
		Mode:    packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo,
		Tests:   true,
		Overlay: cfg,
	}, patterns...)
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

// usesBuiltins compares the predeclared names in generated code with those
// that packages are told not to declare.
func usesBuiltins(t *testing.T, files []gen.File) {
	used := make(map[string]bool)
	for _, f := range files {
		if filepath.Base(f.Path) != gen.CodeFile {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Path, f.Content, parser.SkipObjectResolution)
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
			t.Errorf("%s is kept free and not used", name)
		}
		delete(used, name)
	}
	for name := range used {
		if _, scalar := types.Universe.Lookup(name).(*types.TypeName); !scalar {
			t.Errorf("%s is used and may be declared otherwise", name)
		}
	}
}

func TestErrors(t *testing.T) {
	all := slices.DeleteFunc(scenarios(t), func(s scenario) bool { return !s.fails() })
	files, err := generate(all)
	var reported gen.Errors
	if !errors.As(err, &reported) || files != nil {
		t.Fatalf("got %d files and the error %v", len(files), err)
	}
	if !slices.IsSortedFunc(reported, func(a, b gen.Error) int { return strings.Compare(a.Pos.Filename, b.Pos.Filename) }) {
		t.Error("the errors are not sorted by file")
	}
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			dir := gen.Relative(s.dir) + string(filepath.Separator)
			var lines strings.Builder
			for _, e := range reported {
				if line, ok := strings.CutPrefix(e.String(), dir); ok {
					lines.WriteString(line + "\n")
				}
			}
			s.expect(t, wantErrors, []byte(lines.String()))
		})
	}
}
