package gen

import (
	"bytes"
	"errors"
	"fmt"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"github.com/meshmatch/meshmatch/gen/internal/build"
	"github.com/meshmatch/meshmatch/gen/internal/diag"
	"github.com/meshmatch/meshmatch/gen/internal/emit"
	"github.com/meshmatch/meshmatch/gen/internal/load"
	"github.com/meshmatch/meshmatch/gen/internal/schema"
)

// Config selects the packages to generate for.
type Config struct {
	// Dir is the directory of relative patterns; "" is the current directory.
	Dir string
	// Patterns name packages as for go list: ".", "./...", import paths.
	Patterns []string
	// Overlay maps absolute paths of files, which need not exist, to the content
	// that replaces them.
	Overlay map[string][]byte
}

// File is a generated file, or a file to remove.
type File struct {
	Path    string // absolute
	Content []byte // gofmt'd; nil if the package has no root type
	State   string // of the file on disk: [Fresh], [Missing], [Stale] or [Superfluous]
}

// The states of a file.
const (
	Fresh       = "up to date"
	Missing     = "missing"
	Stale       = "stale"
	Superfluous = "superfluous" // the package has no root type
)

// Errors contains all errors in the source of a run, sorted. Each is printed as
// file:line:column: Type.Field.path: what; hint.
type Errors []diag.Diagnostic

// Error returns one error per line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}

// Generate returns the generated files of the packages, sorted by path: two for
// each package with root types, two for each package with schemas, and the superfluous
// ones. It writes nothing. If
// the source has errors, it returns them as [Errors], and no files. File names
// in Errors are relative to the current directory if they are in it.
func Generate(cfg Config) ([]File, error) {
	var problems diag.List
	packages, err := load.Load(load.Config(cfg), &problems)
	if err != nil {
		return nil, err
	}
	var files []File
	roots := 0
	for _, pkg := range packages {
		roots += len(pkg.Roots) + len(pkg.Schemas)
		generated, err := generate(pkg, &problems, cfg.Overlay)
		if err != nil {
			return nil, err
		}
		files = append(files, generated...)
	}
	if roots == 0 && len(files) == 0 && problems.Len() == 0 {
		problems.Add(diag.Diagnostic{
			What: "no root type in the packages",
			Hint: "put " + load.Directive + " into the doc comment of a struct",
		})
	}
	if problems.Len() > 0 {
		all := Errors(problems.Sorted())
		for i := range all {
			all[i].Pos.Filename = Relative(all[i].Pos.Filename)
		}
		return nil, all
	}
	return files, nil
}

// generate returns the files of a package, or none if its source has an error.
func generate(pkg *load.Package, problems *diag.List, overlay map[string][]byte) ([]File, error) {
	contents := map[string][]byte{}
	if len(pkg.Roots) > 0 {
		before := problems.Len()
		ir := build.Package(pkg, problems)
		if problems.Len() > before {
			return nil, nil
		}
		code, err := emit.File(ir)
		if err != nil {
			return nil, err
		}
		test, err := emit.TestFile(ir)
		if err != nil {
			return nil, err
		}
		contents[load.CodeFile], contents[load.TestFile] = code, test
	}
	if len(pkg.Schemas) > 0 {
		data, code, err := schemas(pkg, problems)
		if code == nil || err != nil {
			return nil, err
		}
		contents[load.SchemaFile], contents[load.SchemaData] = code, data
	}
	var files []File
	for _, name := range load.Files {
		path := filepath.Join(pkg.Dir, name)
		file, err := compare(path, contents[name], overlay)
		switch {
		case errors.Is(err, errForeign):
			problems.Add(diag.Diagnostic{Pos: token.Position{Filename: path, Line: 1, Column: 1}, What: err.Error(), Hint: "rename or remove it"})
		case err != nil:
			return nil, err
		case file.State != "":
			files = append(files, file)
		}
	}
	return files, nil
}

// schemas returns the files with the schemas of a package, or nil if a type has none.
func schemas(pkg *load.Package, problems *diag.List) (data, code []byte, err error) {
	before := problems.Len()
	var list []emit.Schema
	for _, object := range pkg.Schemas {
		list = append(list, emit.Schema{Type: object.Name(), JSON: schema.Generate(pkg.Source, object, problems)})
	}
	if problems.Len() > before {
		return nil, nil, nil
	}
	return emit.SchemaFiles(pkg.Name, load.SchemaData, list)
}

var errForeign = errors.New("has the name of a generated file but was not generated")

// compare returns the file with its state, which is "" if the file does not exist
// and is not generated either.
func compare(path string, content []byte, overlay map[string][]byte) (File, error) {
	file := File{Path: path, Content: content}
	current, ok := overlay[path]
	if !ok {
		var err error
		if current, err = os.ReadFile(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return file, err
		}
		ok = err == nil
	}
	switch {
	case !ok && content != nil:
		file.State = Missing
	case !ok:
	case content == nil && !bytes.HasPrefix(current, []byte(emit.Header)) && !bytes.HasPrefix(current, []byte(emit.SchemaHeader)):
		return file, errForeign
	case content == nil:
		file.State = Superfluous
	case bytes.Equal(current, content):
		file.State = Fresh
	default:
		file.State = Stale
	}
	return file, nil
}

// Write updates the files on disk: it writes missing and stale files and removes
// superfluous ones.
func Write(files []File) error {
	for _, file := range files {
		var err error
		switch file.State {
		case Missing, Stale:
			err = os.WriteFile(file.Path, file.Content, 0o644)
		case Superfluous:
			err = os.Remove(file.Path)
		}
		if err != nil {
			return fmt.Errorf("writing generated code: %w", err)
		}
	}
	return nil
}
