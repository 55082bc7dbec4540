package diag_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/diag"
)

// root is the directory of the module.
const root = "../.."

// sources yields the Go files of the module and of the example, without tests.
func sources(t *testing.T, yield func(path string, file *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "gen" || strings.HasPrefix(entry.Name(), ".") && path != root):
			return fs.SkipDir // package gen has diagnostics of its own
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err == nil {
			yield(path, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Each constant has a definition, and each definition has a constant with its number that
// some message uses.
func TestEveryCodeIsDefinedAndUsed(t *testing.T) {
	constants := map[string]diag.Code{}
	used := map[string]bool{}
	sources(t, func(path string, file *ast.File) {
		if filepath.Base(path) == "codes.go" && file.Name.Name == "diag" {
			ast.Inspect(file, func(n ast.Node) bool {
				if spec, ok := n.(*ast.ValueSpec); ok {
					number, err := strconv.Atoi(spec.Values[0].(*ast.BasicLit).Value)
					if err != nil {
						t.Fatal(err)
					}
					constants[spec.Names[0].Name] = diag.Code(number)
				}
				return true
			})
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && file.Name.Name == "diag" {
				used[id.Name] = true
			}
			if s, ok := n.(*ast.SelectorExpr); ok {
				if p, ok := s.X.(*ast.Ident); ok && p.Name == "diag" {
					used[s.Sel.Name] = true
				}
			}
			return true
		})
	})
	definitions := map[diag.Code]*diag.Definition{}
	previous := diag.Code(0)
	for _, d := range diag.Definitions() {
		if d.Code <= previous {
			t.Errorf("%s is after %s", d.Code, previous)
		}
		previous = d.Code
		definitions[d.Code] = d
		if d.Title == "" || d.Means == "" || d.Mend == "" || (d.Example == "") == (d.When == "") {
			t.Errorf("the definition of %s is not complete: %+v", d.Code, d)
		}
	}
	if len(constants) != len(definitions) {
		t.Errorf("%d constants, %d definitions", len(constants), len(definitions))
	}
	for name, code := range constants {
		if definitions[code] == nil {
			t.Errorf("%s (%s) has no definition", name, code)
		}
		if !used[name] {
			t.Errorf("no message has the code %s (%s)", name, code)
		}
	}
}

// Every message has a code: each literal of a diagnostic or a warning gives one. The
// functions that make messages take one.
func TestEveryMessageHasACode(t *testing.T) {
	found := 0
	sources(t, func(path string, file *ast.File) {
		check := func(lit *ast.CompositeLit) {
			if len(lit.Elts) == 0 {
				return // no message
			}
			found++
			for _, e := range lit.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok && kv.Key.(*ast.Ident).Name == "Code" {
					return
				}
			}
			t.Errorf("%s: a message has no code", path)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			if isMessage(lit.Type, file.Name.Name) {
				check(lit)
			}
			if list, ok := lit.Type.(*ast.ArrayType); ok && isMessage(list.Elt, file.Name.Name) {
				for _, e := range lit.Elts {
					if element, ok := e.(*ast.CompositeLit); ok && element.Type == nil {
						check(element)
					}
				}
			}
			return true
		})
	})
	if found < 40 {
		t.Errorf("found %d messages only", found)
	}
}

// isMessage reports whether a type of a file of that package is diag.Diagnostic or
// xds.Warning.
func isMessage(expr ast.Expr, pkg string) bool {
	switch e := expr.(type) {
	case *ast.Ident:
		return pkg == "diag" && e.Name == "Diagnostic" || pkg == "xds" && e.Name == "Warning"
	case *ast.SelectorExpr:
		p, ok := e.X.(*ast.Ident)
		return ok && (p.Name == "diag" && e.Sel.Name == "Diagnostic" || p.Name == "xds" && e.Sel.Name == "Warning")
	}
	return false
}

func TestParseCode(t *testing.T) {
	for text, want := range map[string]diag.Code{
		"MM0102": diag.UnknownField, "mm0102": diag.UnknownField,
		"MM9999": 0, "MM102": 0, "MM00102": 0, "0102": 0, "MM": 0, "": 0, "MM+102": 0, "MM-001": 0,
	} {
		got, ok := diag.ParseCode(text)
		if ok != (want != 0) || ok && got != want {
			t.Errorf("%q: got %s, %v", text, got, ok)
		}
	}
	if got := diag.UnknownField.String(); got != "MM0102" {
		t.Errorf("got %s", got)
	}
}

func TestAdded(t *testing.T) {
	at := func(line int, what string) diag.Diagnostic {
		return diag.Diagnostic{Code: diag.SetsNothing, Pos: diag.Position{File: "f", Line: line, Column: 1}, What: what}
	}
	before := []diag.Diagnostic{at(1, "a"), at(5, "see f:7:1"), at(9, "gone")}
	after := []diag.Diagnostic{at(3, "a"), at(4, "a"), at(8, "see f:10:1"), at(2, "new")}
	var got []string
	for _, d := range diag.Added(before, after) {
		got = append(got, d.Error())
	}
	if text := strings.Join(got, ", "); text != "f:2:1: new, f:4:1: a" {
		t.Errorf("got %s", text)
	}
}
