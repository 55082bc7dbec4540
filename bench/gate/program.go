package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A Program is a test binary with benchmarks.
type Program struct {
	Package string // import path; "" for a binary that was given as a file
	Path    string // absolute
	Dir     string // where it runs: its package's directory, for its testdata
}

// isProgram tells whether path is a file that can be executed.
func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// fileProgram is a binary that was given as a file. It runs in the current
// directory, since nothing tells where its package is.
func fileProgram(path string) (Program, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return Program{}, err
	}
	dir, err := os.Getwd()
	return Program{Path: path, Dir: dir}, err
}

// buildPrograms compiles the packages of the module in dir that have tests and
// keeps those that have benchmarks, as binaries below out. A pattern without
// packages gives none: the base may be older than a package.
func buildPrograms(ctx context.Context, dir, out string, patterns []string, progress *Progress) ([]Program, error) {
	packages, err := listPackages(ctx, dir, patterns)
	if err != nil {
		return nil, err
	}
	var programs []Program
	for i, p := range packages {
		progress.Step("build %s %d/%d %s", filepath.Base(out), i+1, len(packages), p.ImportPath)
		program := Program{Package: p.ImportPath, Path: filepath.Join(out, strconv.Itoa(i)+".test"), Dir: p.Dir}
		if _, err := run(ctx, dir, "go", "test", "-c", "-o", program.Path, p.ImportPath); err != nil {
			return nil, err
		}
		// Of a package that has no test files after build tags, go test -c
		// makes no binary.
		if !isProgram(program.Path) {
			continue
		}
		names, err := run(ctx, program.Dir, program.Path, "-test.list=^Benchmark")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", program.Package, err)
		}
		if bytes.Contains(names, []byte("Benchmark")) {
			programs = append(programs, program)
		}
	}
	return programs, nil
}

// A goPackage is what `go list -json` says about a package.
type goPackage struct {
	ImportPath   string
	Dir          string
	TestGoFiles  []string
	XTestGoFiles []string
	Error        *struct{ Err string }
}

// listPackages returns the packages with tests in the order of go list.
func listPackages(ctx context.Context, dir string, patterns []string) ([]goPackage, error) {
	args := append([]string{"list", "-e", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles,Error", "--"}, patterns...)
	out, err := run(ctx, dir, "go", args...)
	if err != nil {
		return nil, err
	}
	var packages []goPackage
	decoder := json.NewDecoder(bytes.NewReader(out))
	for {
		var p goPackage
		switch err := decoder.Decode(&p); {
		case errors.Is(err, io.EOF):
			return packages, nil
		case err != nil:
			return nil, fmt.Errorf("go list: %w", err)
		case p.Error != nil && p.Dir != "":
			return nil, fmt.Errorf("go list in %s: %s", dir, strings.TrimSpace(p.Error.Err))
		case p.Error == nil && len(p.TestGoFiles)+len(p.XTestGoFiles) > 0:
			packages = append(packages, p)
		}
	}
}
