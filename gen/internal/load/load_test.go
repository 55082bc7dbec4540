package load_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/gen/internal/diag"
	"github.com/meshmatch/meshmatch/gen/internal/load"
	"github.com/meshmatch/meshmatch/gen/internal/scenario"
)

// TestErrors loads packages with wrong directives and bad syntax.
func TestErrors(t *testing.T) {
	var problems diag.List
	all := scenario.All(t)
	scenario.Load(t, all, &problems)
	scenario.ExpectErrors(t, all, &problems)
}

// loadFiles loads a module with the given files.
func loadFiles(t *testing.T, files map[string]string, patterns ...string) ([]*load.Package, []diag.Diagnostic) {
	t.Helper()
	dir := t.TempDir()
	cfg := load.Config{Dir: dir, Patterns: patterns, Overlay: map[string][]byte{dir + "/go.mod": []byte("module example.com/mesh\n")}}
	for name, content := range files {
		cfg.Overlay[dir+"/"+name] = []byte(content)
	}
	var problems diag.List
	packages, err := load.Load(cfg, &problems)
	if err != nil {
		t.Fatal(err)
	}
	return packages, problems.Sorted()
}

func TestLoad(t *testing.T) {
	packages, problems := loadFiles(t, map[string]string{
		"b/conf.go": `package conf

import alias "fmt"

//confgen:conf clone hash
type Second struct{}

// First has a longer comment.
//
//confgen:conf
type First struct{}

const A, B = 1, 2

func F() { return undefined } // bodies are not checked

func (First) Method() { alias.Println() }
`,
		"b/conf_test.go":              "package conf\n\nimport \"os/exec\"\n\nvar InTest = exec.Command\n",
		"b/outside_test.go":           "package conf_test\n\nvar Outside int\n",
		"b/zz_generated.conf.go":      "package conf\n\nthis is broken",
		"b/never.go":                  "//go:build never\n\npackage conf\n\ntype Never struct{}\n",
		"a/plain.go":                  "package plain\n",
		"c/zz_generated.conf.go":      "package gone\n",
		"b/zz_generated.conf_test.go": "package conf\n\nvar Generated int\n",
	}, "./...")
	for _, d := range problems {
		t.Error(d)
	}
	var paths []string
	for _, p := range packages {
		paths = append(paths, p.Path+" "+p.Name)
	}
	if want := []string{"example.com/mesh/a plain", "example.com/mesh/b conf"}; !slices.Equal(paths[:2], want) {
		t.Fatalf("packages %v, want %v first", paths, want)
	}
	if len(packages[0].Roots) != 0 {
		t.Errorf("package a has the roots %v", packages[0].Roots)
	}
	conf := packages[1]
	if len(conf.Roots) != 2 || conf.Roots[0].Name() != "Second" || conf.Roots[1].Name() != "First" {
		t.Fatalf("roots %v, want those of the source in its order", conf.Roots)
	}
	if first, second := conf.Roots[1], conf.Roots[0]; !second.Hash || !second.Clone || first.Hash || first.Clone {
		t.Errorf("the words of the directives are %+v and %+v", second, first)
	}
	if pos := conf.Position(conf.Roots[0].Pos()); !strings.HasSuffix(pos.Filename, "b/conf.go") || pos.Line != 6 || pos.Column != 6 {
		t.Errorf("Second is at %v", pos)
	}
	if got, want := slices.Sorted(maps.Keys(conf.Declared)), []string{"A", "B", "F", "First", "InTest", "Never", "Second"}; !slices.Equal(got, want) {
		t.Errorf("declared %v, want %v", got, want)
	}
	if got, want := slices.Sorted(maps.Keys(conf.Imported)), []string{"alias", "exec"}; !slices.Equal(got, want) {
		t.Errorf("imported %v, want %v", got, want)
	}
}

func TestTypeError(t *testing.T) {
	packages, _ := loadFiles(t, map[string]string{
		"conf.go": `package conf

import "example.com/mesh/nowhere"

//confgen:conf
type Conf struct {
	Unknown *Unknown
	Gone    *nowhere.Type
}
`,
	}, ".")
	if len(packages) != 1 {
		t.Fatalf("%d packages", len(packages))
	}
	pkg := packages[0]
	tests := []struct{ field, want string }{
		{"Unknown", "undefined: Unknown"},
		{"Gone", "could not import example.com/mesh/nowhere"},
	}
	for i, test := range tests {
		file := pkg.Roots[0].Pos()
		pos := file
		for pkg.Position(pos).Line != 7+i {
			pos++
		}
		if got := pkg.TypeError(pos); got != test.want {
			t.Errorf("%s: got %q, want %q", test.field, got, test.want)
		}
	}
}

func TestLoadOfNothing(t *testing.T) {
	_, problems := loadFiles(t, nil, "./nowhere")
	if len(problems) == 0 {
		t.Error("a package that does not exist is no problem")
	}
}
