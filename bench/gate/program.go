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
	"slices"
	"strconv"
	"strings"
)

// A program is a test binary with benchmarks.
type program struct {
	Package string // import path; "" for a binary that was given as a file
	Path    string // absolute
	Dir     string // the directory in which it runs: the package's directory, for its testdata
}

// has reports whether b is in the program's package.
func (p *program) has(b benchmarkID) bool { return p.Package == "" || p.Package == b.Package }

// isProgram reports whether path is a file that can be executed.
func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// fileProgram returns a binary that was given as a file. It runs in the current
// directory, because the directory of its package is unknown.
func fileProgram(path string) (program, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return program{}, err
	}
	dir, err := os.Getwd()
	return program{Path: path, Dir: dir}, err
}

// buildPrograms compiles the packages of the module in dir that have benchmarks,
// as binaries below out. A pattern that matches no package is not an error,
// because the base may be older than a package.
func buildPrograms(ctx context.Context, dir, out string, patterns []string, step func(format string, args ...any)) ([]program, error) {
	packages, err := listPackages(ctx, dir, patterns)
	if err != nil {
		return nil, err
	}
	var programs []program
	for i, p := range packages {
		step("build %s %d/%d %s", filepath.Base(out), i+1, len(packages), p.ImportPath)
		built := program{Package: p.ImportPath, Path: filepath.Join(out, strconv.Itoa(i)+".test"), Dir: p.Dir}
		if _, err := run(ctx, dir, "go", "test", "-c", "-o", built.Path, p.ImportPath); err != nil {
			return nil, err
		}
		// If build tags exclude all test files of a package, go test -c makes
		// no binary.
		if !isProgram(built.Path) {
			continue
		}
		names, err := run(ctx, built.Dir, built.Path, "-test.list=^Benchmark")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", built.Package, err)
		}
		if bytes.Contains(names, []byte("Benchmark")) {
			programs = append(programs, built)
		}
	}
	return programs, nil
}

// A goPackage is a package in the output of `go list -json`.
type goPackage struct {
	ImportPath   string
	Dir          string
	TestGoFiles  []string
	XTestGoFiles []string
	Error        *struct{ Err string }
}

// hasBenchmarks reports whether a test file seems to have a benchmark. It avoids
// building the tests of most packages of a large module.
func (p *goPackage) hasBenchmarks() bool {
	return slices.ContainsFunc(slices.Concat(p.TestGoFiles, p.XTestGoFiles), func(name string) bool {
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		return err != nil || bytes.Contains(text, []byte("func Benchmark"))
	})
}

// listPackages returns the packages with benchmarks in the order of go list.
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
		case p.Error == nil && p.hasBenchmarks():
			packages = append(packages, p)
		}
	}
}
