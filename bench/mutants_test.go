package bench

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A survivor is lines of code in a function or type whose mutants live.
type survivor struct {
	file, in string
	lines    []string
}

// readSurvivors returns those of mutants.txt.
func readSurvivors(t *testing.T) []survivor {
	t.Helper()
	var all []survivor
	for line := range strings.Lines(readFile(t, "mutants.txt")) {
		line = strings.TrimSuffix(line, "\n")
		switch code, indented := strings.CutPrefix(line, "\t"); {
		case strings.HasPrefix(line, "#"):
		case indented:
			last := &all[len(all)-1]
			last.lines = append(last.lines, code)
		default:
			file, in, ok := strings.Cut(line, " ")
			if !ok {
				t.Fatalf("mutants.txt: %q is not a file and a name", line)
			}
			all = append(all, survivor{file: file, in: in})
		}
	}
	return all
}

// The reasons of MUTANTS.md are about code that exists: a changed line has other mutants, which
// are tried first.
func TestSurvivors(t *testing.T) {
	for _, s := range readSurvivors(t) {
		code := declarations(t, filepath.Join("..", filepath.FromSlash(s.file)))[s.in]
		for _, line := range s.lines {
			if !slices.Contains(code, line) {
				t.Errorf("%s: %s no longer has %q. Try the mutants of the new code, then change mutants.txt and MUTANTS.md", s.file, s.in, line)
			}
		}
	}
}

// declarations returns the lines of each function and type of a file, without their indentation.
// A method is named Type.Method.
func declarations(t *testing.T, file string) map[string][]string {
	t.Helper()
	source := readFile(t, file)
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, file, source, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, d := range tree.Decls {
		var lines []string
		for line := range strings.Lines(source[files.Position(d.Pos()).Offset:files.Position(d.End()).Offset]) {
			lines = append(lines, strings.TrimSpace(line))
		}
		switch d := d.(type) {
		case *ast.FuncDecl:
			all[nameOf(d)] = lines
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if typ, ok := spec.(*ast.TypeSpec); ok {
					all[typ.Name.Name] = lines
				}
			}
		}
	}
	return all
}

func nameOf(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	switch generic := typ.(type) {
	case *ast.IndexExpr:
		typ = generic.X
	case *ast.IndexListExpr:
		typ = generic.X
	}
	return typ.(*ast.Ident).Name + "." + d.Name.Name
}

// MUTANTS.md has a reason for each survivor, and none for other files. Its packages are those of
// `make mutants`.
func TestSurvivorsHaveReasons(t *testing.T) {
	page := readFile(t, "MUTANTS.md")
	_, reasons, ok := strings.Cut(page, "\n## Survivors, with reasons\n")
	if !ok {
		t.Fatal("MUTANTS.md has no section of survivors")
	}
	reasons = strings.Join(strings.Fields(reasons), " ")
	files := map[string]bool{}
	for _, s := range readSurvivors(t) {
		name := path.Base(s.file)
		files[name] = true
		if !regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + ` [^;|]*\b` + regexp.QuoteMeta(s.in) + `\b`).MatchString(reasons) {
			t.Errorf("MUTANTS.md has no reason for %s of %s", s.in, s.file)
		}
	}
	for _, name := range regexp.MustCompile(`\w+\.go\b`).FindAllString(reasons, -1) {
		if !files[name] {
			t.Errorf("MUTANTS.md has a reason for %s, and mutants.txt does not have it", name)
		}
	}
	packages := regexp.MustCompile(`(?m)^MUTATED +\?= (.*)$`).FindStringSubmatch(readFile(t, filepath.Join("..", "Makefile")))
	for _, pkg := range strings.Fields(packages[1]) {
		if !strings.Contains(page, "\n| "+pkg+" |") {
			t.Errorf("MUTANTS.md has no row for %s", pkg)
		}
	}
}

// A mutant of the world is applied to the code of today: `make world-mutants` takes hours, and would
// end at a patch that no longer fits.
func TestWorldMutantsApply(t *testing.T) {
	patches, err := filepath.Glob("mutants/*.patch")
	if err != nil || len(patches) < 20 {
		t.Fatalf("there are %d mutants: %v", len(patches), err)
	}
	for _, patch := range patches {
		_, rest, _ := strings.Cut(readFile(t, patch), "\n+++ b/")
		file, hunks, _ := strings.Cut(rest, "\n")
		code := readFile(t, filepath.Join("..", filepath.FromSlash(file)))
		for _, hunk := range strings.Split(hunks, "@@ ")[1:] {
			var before strings.Builder
			_, lines, _ := strings.Cut(hunk, "\n")
			for line := range strings.Lines(lines) {
				if !strings.HasPrefix(line, "+") && len(line) > 1 || line == " \n" {
					before.WriteString(line[1:])
				}
			}
			if !strings.Contains(code, before.String()) {
				t.Errorf("%s does not fit %s, which no longer has\n%s", patch, file, before.String())
			}
		}
	}
}
