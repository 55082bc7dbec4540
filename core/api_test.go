package core_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The limits of the front: packages that other modules can import, in addition to the policy
// kinds, exported types of all of them, and lines that go doc prints below the comment of one of
// them, which are two screens. They may only fall.
const (
	maxPackages = 20
	maxTypes    = 400
	maxLines    = 100
)

// stability has the packages whose names may change in a minor version. All others are stable.
var stability = map[string]string{
	"fuzz/naive":           "may change: the reference follows core/SPEC.md",
	"core/xds/server":      "stable, except the options that only a relay sets",
	"core/permission":      "stable",
	"core/app":             "stable",
	"core/kind/KIND":       "stable; a Conf gets fields when a kind of policies gets them",
	"core/results":         "stable",
	"core/xds":             "stable",
	"core/xds/wire":        "stable",
	"core/kind/kinds":      "stable",
	"bench/gate":           "stable",
	"gen":                  "stable",
	"gen/laws":             "stable: generated tests call it",
	"gen/merge":            "may change: generated code alone calls it, and is made again",
	"fuzz":                 "stable: CheckKind and the types that it takes",
	"index":                "stable",
	"core":                 "stable",
	"core/conf":            "stable",
	"core/diag":            "stable; findings get codes",
	"core/resource":        "stable",
	"core/xds/snapshot":    "stable",
	"core/xds/translators": "stable",
}

// publicPackage is a package that other modules can import.
type publicPackage struct {
	names []string // exported names with their kind, such as "type Engine"
	types int
	lines int // of go doc: types, functions, and groups of constants and variables
}

// TestAPI compares core/API.md with the exported names of all importable packages, and their
// number with the limits of the front. UPDATE=1 writes the page.
func TestAPI(t *testing.T) {
	packages := publicPackages(t)
	var page strings.Builder
	page.WriteString("# The public API\n\nThis page is made from the code: `UPDATE=1 go test ./core -run TestAPI`. `make api` compares the\n" +
		"names and their types with the last tag. Every package that is not on this page is internal.\n")
	kinds, types := 0, 0
	for _, own := range slices.Sorted(maps.Keys(packages)) {
		p := packages[own]
		types += p.types
		if p.lines > maxLines {
			t.Errorf("go doc prints %d lines of package %s; at most %d are allowed", p.lines, own, maxLines)
		}
		key := own
		if isKind(own) {
			kinds++
			key = "core/kind/KIND"
		}
		if stability[key] == "" {
			t.Errorf("package %s can be imported, and the table of stability does not have it", own)
		}
		fmt.Fprintf(&page, "\n## %s\n\n%s.\n\n", own, strings.ToUpper(stability[key][:1])+stability[key][1:])
		for _, name := range p.names {
			fmt.Fprintf(&page, "- %s\n", name)
		}
	}
	if n := len(packages) - kinds; n > maxPackages {
		t.Errorf("%d packages can be imported in addition to %d kinds; at most %d are allowed", n, kinds, maxPackages)
	}
	if types > maxTypes {
		t.Errorf("%d types are exported; at most %d are allowed", types, maxTypes)
	}
	t.Logf("%d packages, of which %d are kinds; %d exported types", len(packages), kinds, types)
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile("API.md", []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("API.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(text), page.String()); diff != "" {
		t.Errorf("API.md differs from the code; UPDATE=1 writes it (-page +code):\n%s", diff)
	}
}

func isKind(own string) bool { return strings.HasPrefix(own, "core/kind/mesh") }

// publicPackages returns the importable packages of all modules of the repository.
func publicPackages(t *testing.T) map[string]*publicPackage {
	t.Helper()
	packages := map[string]*publicPackage{}
	for name, text := range sources(t, ".go") {
		name = strings.TrimPrefix(name, "../")
		if strings.HasSuffix(name, "_test.go") || slices.ContainsFunc(strings.Split(path.Dir(name), "/"), isHidden) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if file.Name.Name == "main" {
			continue
		}
		own := path.Dir(name)
		if packages[own] == nil {
			packages[own] = &publicPackage{}
		}
		packages[own].add(file)
	}
	for _, p := range packages {
		slices.Sort(p.names)
	}
	return packages
}

// isHidden reports whether other modules cannot import what is below a directory.
func isHidden(directory string) bool { return directory == "internal" || directory == "testdata" }

// add adds the exported names of a file.
func (p *publicPackage) add(file *ast.File) {
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			receiver := receiverName(d)
			if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver)) {
				p.names = append(p.names, strings.TrimSpace("func "+strings.TrimPrefix(receiver+"."+d.Name.Name, ".")))
				if d.Recv == nil {
					p.lines++
				}
			}
		case *ast.GenDecl:
			before := len(p.names)
			for _, spec := range d.Specs {
				p.addSpec(d.Tok, spec)
			}
			switch added := len(p.names) - before; {
			case d.Tok == token.TYPE:
				p.lines += added
			case added > 0:
				p.lines++
			}
		}
	}
}

func (p *publicPackage) addSpec(keyword token.Token, spec ast.Spec) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() {
			p.types++
			p.names = append(p.names, "type "+s.Name.Name)
		}
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if name.IsExported() {
				p.names = append(p.names, keyword.String()+" "+name.Name)
			}
		}
	}
}

// receiverName returns the name of the type of a method, or "".
func receiverName(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	expression := d.Recv.List[0].Type
	for {
		switch e := expression.(type) {
		case *ast.StarExpr:
			expression = e.X
		case *ast.IndexExpr:
			expression = e.X
		case *ast.IndexListExpr:
			expression = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}
