package load

import (
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/meshmatch/meshmatch/gen/internal/diag"
)

// The names of the generated files.
const (
	CodeFile   = "zz_generated.conf.go"
	TestFile   = "zz_generated.conf_test.go"
	SchemaFile = "zz_generated.schema.go"
	SchemaData = "zz_generated.schema.json" // embedded by the former
)

// Files are the names of all generated files.
var Files = []string{CodeFile, TestFile, SchemaFile, SchemaData}

// Config selects the packages to load.
type Config struct {
	Dir      string   // of relative patterns
	Patterns []string // in the syntax of go list
	Overlay  map[string][]byte
}

// Package is a loaded package.
type Package struct {
	Path, Name string
	Dir        string
	Types      *types.Package
	// Roots are the structs with the directive, in the order of the source.
	Roots []Root
	// Schemas are the structs for which a schema is requested, in the order of the
	// source.
	Schemas []*types.TypeName
	// Source is the source of the package and of all that it imports.
	Source *Source
	// Declared and Imported are the names that the package declares and that its
	// files import, including tests and files that build constraints exclude: all of
	// them are in one scope with the generated file.
	Declared, Imported map[string]bool

	fset   *token.FileSet
	errors map[string]string // the type error of a file:line, or of a file
}

// Root is a struct with the directive. It has the methods that the directive requests
// in addition to the methods of every root.
type Root struct {
	*types.TypeName
	Hash, Clone bool
}

const mode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
	packages.NeedDeps | packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax

// Load reads the packages, sorted by path. It adds errors in their source to problems;
// the returned error is about loading itself.
func Load(cfg Config, problems *diag.List) ([]*Package, error) {
	overlay, err := withoutGenerated(cfg)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	loaded, err := packages.Load(&packages.Config{
		Mode:      mode,
		Dir:       cfg.Dir,
		Env:       environment(),
		Fset:      fset,
		ParseFile: parseDeclarations,
		Overlay:   overlay,
	}, cfg.Patterns...)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(loaded, func(a, b *packages.Package) int { return strings.Compare(a.PkgPath, b.PkgPath) })

	typeErrors := make(map[string]string)
	packages.Visit(loaded, nil, func(p *packages.Package) { collectTypeErrors(typeErrors, p.TypeErrors) })
	source := newSource(fset, loaded)
	var result []*Package
	for _, p := range loaded {
		reportErrors(problems, p.Errors)
		if p.Types == nil || p.Dir == "" {
			continue
		}
		pkg := &Package{
			Path:   p.PkgPath,
			Name:   p.Name,
			Dir:    p.Dir,
			Types:  p.Types,
			Source: source,
			fset:   fset,
			errors: typeErrors,
		}
		pkg.findRoots(p.Syntax, problems)
		if err := pkg.collectNames(p.GoFiles, cfg.Overlay, problems); err != nil {
			return nil, err
		}
		result = append(result, pkg)
	}
	return result, nil
}

// withoutGenerated returns an overlay in which the generated files of the packages
// are empty. The go command also reads files, and would fail for a generated file
// that is broken or imports a package that no longer exists.
func withoutGenerated(cfg Config) (map[string][]byte, error) {
	found, err := packages.Load(&packages.Config{
		Mode:    packages.NeedName | packages.NeedFiles,
		Dir:     cfg.Dir,
		Env:     environment(),
		Overlay: cfg.Overlay,
	}, cfg.Patterns...)
	if err != nil {
		return nil, err
	}
	overlay := make(map[string][]byte, len(cfg.Overlay)+len(found))
	maps.Copy(overlay, cfg.Overlay)
	for _, p := range found {
		for _, file := range Files {
			path := filepath.Join(p.Dir, file)
			_, overlaid := cfg.Overlay[path]
			if _, err := os.Stat(path); p.Dir == "" || (err != nil && !overlaid) {
				continue
			}
			name, err := packageName(p.Dir, cfg.Overlay)
			if err != nil {
				return nil, err
			}
			overlay[path] = []byte("package " + name + "\n")
		}
	}
	return overlay, nil
}

// environment disables cgo unless the user has set it: a conf needs no C, and
// type-checking net or os/user with cgo needs a C compiler.
func environment() []string {
	env := os.Environ()
	if _, set := os.LookupEnv("CGO_ENABLED"); !set {
		env = append(env, "CGO_ENABLED=0")
	}
	return env
}

// Position returns the file, line and column of pos.
func (p *Package) Position(pos token.Pos) token.Position { return p.fset.Position(pos) }
