package load

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/meshmatch/meshmatch/gen/internal/diag"
)

// parseDeclarations parses a file without function bodies, which cannot change a
// type and may use names that will be generated. The bodies of methods Enum are kept:
// they contain the words of a schema. From a generated file it parses only the package
// clause.
func parseDeclarations(fset *token.FileSet, filename string, src []byte) (*ast.File, error) {
	mode := parser.ParseComments | parser.SkipObjectResolution
	if isGenerated(filename) {
		mode = parser.PackageClauseOnly
	}
	file, err := parser.ParseFile(fset, filename, src, mode)
	if file == nil {
		return nil, err
	}
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && !isEnum(f) {
			f.Body = nil
		}
	}
	return file, err
}

// isGenerated reports whether a file has the name of a generated one.
func isGenerated(path string) bool { return slices.Contains(Files, filepath.Base(path)) }

// packageName returns the package name in the hand-written files of a directory,
// or the name of the directory if there are no such files.
func packageName(dir string, overlay map[string][]byte) (string, error) {
	files, err := goFiles(dir, overlay)
	if err != nil {
		return "", err
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if file, err := parse(token.NewFileSet(), name, overlay, parser.PackageClauseOnly); err == nil {
			return file.Name.Name, nil
		}
	}
	return filepath.Base(dir), nil
}

// collectNames sets Declared and Imported from all files of the directory, and
// reports directives in tests and in files that are not built.
func (p *Package) collectNames(built []string, overlay map[string][]byte, problems *diag.List) error {
	files, err := goFiles(p.Dir, overlay)
	if err != nil {
		return err
	}
	p.Declared, p.Imported = make(map[string]bool), make(map[string]bool)
	for _, name := range files {
		file, err := parse(p.fset, name, overlay, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			continue // the compiler reports it
		}
		if !slices.Contains(built, name) {
			p.checkDirectives(file, nil, problems)
		}
		if file.Name.Name != p.Name {
			continue
		}
		for _, spec := range file.Imports {
			p.Imported[importName(spec)] = true
		}
		for _, decl := range file.Decls {
			declared(decl, p.Declared)
		}
	}
	return nil
}

func declared(decl ast.Decl, names map[string]bool) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			names[d.Name.Name] = true
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				names[s.Name.Name] = true
			case *ast.ValueSpec:
				for _, name := range s.Names {
					names[name.Name] = true
				}
			}
		}
	}
}

func importName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	importPath, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return ""
	}
	return path.Base(importPath)
}

// goFiles lists the Go files of a directory without the generated ones.
func goFiles(dir string, overlay map[string][]byte) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for name := range overlay {
		if filepath.Dir(name) == dir && strings.HasSuffix(name, ".go") {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	return slices.DeleteFunc(slices.Compact(files), func(name string) bool {
		return isGenerated(name)
	}), nil
}

func parse(fset *token.FileSet, name string, overlay map[string][]byte, mode parser.Mode) (*ast.File, error) {
	src, ok := overlay[name]
	if !ok {
		var err error
		if src, err = os.ReadFile(name); err != nil {
			return nil, err
		}
	}
	return parser.ParseFile(fset, name, src, mode)
}
