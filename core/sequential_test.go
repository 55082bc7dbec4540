package core_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestSequential requires that the packages that `make race` leaves out start no goroutine:
// neither their code and tests, nor a package that either of them imports. The one exception
// is core/resource, which decodes documents at the same time: its own tests, and those of
// core/kind/kinds for the decoders of all kinds, run with the race detector.
func TestSequential(t *testing.T) {
	packages := goroutines(t)
	found := map[string]bool{}
	for _, word := range makeWords(t, "SEQUENTIAL") {
		pattern := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(word), "%", ".*") + "$")
		for own, p := range packages {
			if !pattern.MatchString(own) {
				continue
			}
			found[word] = true
			for _, start := range slices.Concat(p.starts, p.testStarts) {
				t.Errorf("make race leaves out %s, which starts a goroutine: %s", own, start)
			}
			graph := map[string]map[string]bool{own: p.testImports}
			for name, q := range packages {
				if name != own {
					graph[name] = q.imports
				}
			}
			maps.Copy(graph[own], p.imports)
			for reached := range reach(graph, own) {
				if q := packages[reached]; q != nil && reached != own && reached != "core/resource" {
					for _, start := range q.starts {
						t.Errorf("make race leaves out %s, which uses %s, which starts a goroutine: %s", own, reached, start)
					}
				}
			}
		}
		if !found[word] {
			t.Errorf("Makefile: no package is %s of SEQUENTIAL", word)
		}
	}
}

// makeWords returns the words of a variable of the Makefile.
func makeWords(t *testing.T, variable string) []string {
	t.Helper()
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^` + variable + `\s*:=((?:.*\\\n)*.*)$`).FindSubmatch(makefile)
	if m == nil {
		t.Fatalf("the Makefile has no %s", variable)
	}
	return strings.Fields(strings.ReplaceAll(string(m[1]), "\\\n", " "))
}

// starting is where a package starts goroutines, and what it imports.
type starting struct {
	starts, testStarts   []string
	imports, testImports map[string]bool
}

// starters are the names of functions and methods that start goroutines.
var starters = []string{"Go", "Parallel", "RunParallel", "AfterFunc", "Listen", "Serve", "ListenAndServe", "NewServer", "NewClient"}

// goroutines reads where the packages of this module start goroutines: by the statement, by
// one of the starters, or by importing a package that runs servers, bubbles or scripts.
func goroutines(t *testing.T) map[string]*starting {
	t.Helper()
	packages := map[string]*starting{}
	for name, text := range sources(t, ".go") {
		name = strings.TrimPrefix(name, "../")
		if strings.Contains("/"+name, "/testdata/") {
			continue
		}
		own := path.Dir(name)
		p := packages[own]
		if p == nil {
			p = &starting{imports: map[string]bool{}, testImports: map[string]bool{}}
			packages[own] = p
		}
		starts, imports := &p.starts, p.imports
		if strings.HasSuffix(name, "_test.go") {
			starts, imports = &p.testStarts, p.testImports
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			imports[strings.TrimPrefix(imported, module)] = true
			switch {
			case imported == "net/http/httptest", imported == "testing/synctest", strings.HasSuffix(imported, "/testscript"):
				*starts = append(*starts, files.Position(spec.Pos()).String())
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				*starts = append(*starts, files.Position(n.Pos()).String())
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains(starters, f.Sel.Name) {
					*starts = append(*starts, files.Position(n.Pos()).String())
				}
			}
			return true
		})
	}
	return packages
}
