package resource

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
)

// Stdin is the path that means standard input.
const Stdin = "-"

// stdinName is the name of standard input in positions.
const stdinName = "<stdin>"

// file is a file to read. Only regular files are read: opening a FIFO would
// wait for a writer, and a device may be endless.
type file struct {
	name string // for messages
	path string // relative to root, if root is not nil
	root *os.Root
}

// files lists the files that a load reads. It reports a path that it cannot
// read and continues with the next one.
type files struct {
	ctx     context.Context // of the load
	sink    *diag.Sink
	list    []file
	exclude *exclusions
	given   map[string]string // from the clean name of a file to the path by which it was found
	roots   []*os.Root
}

func (f *files) errorf(code diag.Code, name, hint, format string, args ...any) {
	f.sink.Error(diag.Diagnostic{Code: code, Pos: diag.Position{File: diag.OneLine(name)}, What: diag.OneLine(fmt.Sprintf(format, args...)), Hint: hint})
}

func (f *files) close() {
	for _, root := range f.roots {
		root.Close()
	}
}

// add lists a file, or every file of a directory tree.
func (f *files) add(path string) {
	const hint = "give a file, a directory or -"
	if path == Stdin {
		f.append(path, file{name: stdinName})
		return
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		f.errorf(diag.UnreadableFile, path, hint, "%s", readError(err))
	case info.IsDir():
		f.tree(path)
	case !info.Mode().IsRegular():
		f.errorf(diag.UnreadableFile, path, hint, "is not a regular file")
	default:
		f.append(path, file{name: filepath.ToSlash(path), path: path})
	}
}

func (f *files) append(given string, found file) {
	name := filepath.Clean(found.name)
	if first, twice := f.given[name]; twice {
		f.errorf(diag.RepeatedFile, found.name, first+" has it already", "is given twice")
		return
	}
	f.given[name] = given
	f.list = append(f.list, found)
}

// tree lists the .yaml, .yml and .json files of a directory tree, without
// hidden ones and those that are excluded. A link to a file is followed if it stays in the tree. A link to a directory is
// ignored if the tree has that directory, and is an error otherwise. The directory of a Helm chart is one error.
func (f *files) tree(dir string) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		f.errorf(diag.UnreadableFile, dir, "", "%s", readError(err))
		return
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		f.errorf(diag.UnreadableFile, dir, "", "%s", readError(err))
		return
	}
	f.roots = append(f.roots, root)
	_ = filepath.WalkDir(real, func(path string, entry fs.DirEntry, err error) error {
		inTree, _ := filepath.Rel(real, path) // path begins with real
		name := filepath.Join(dir, inTree)
		switch {
		case f.ctx.Err() != nil:
			return fs.SkipAll
		case err != nil:
			f.errorf(diag.UnreadableFile, name, "", "%s", readError(err)) // and continue with the other entries
		case path != real && f.exclude.match(filepath.ToSlash(inTree), filepath.ToSlash(name)):
			if entry.IsDir() {
				return filepath.SkipDir
			}
		case path != real && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return filepath.SkipDir
			}
		case entry.IsDir() && isChart(root, inTree):
			f.errorf(diag.UnrenderedInput, name, "give its output: helm template "+diag.OneLine(name)+" | meshmatch ... -f -; or exclude it", "is a Helm chart: its templates are no resources")
			return filepath.SkipDir
		case entry.Type()&fs.ModeSymlink != 0 && !isResourceFile(path):
			f.directoryLink(real, name, path)
		case entry.IsDir(), !isResourceFile(path):
		case entry.Type()&fs.ModeSymlink != 0:
			f.link(dir, real, root, file{name: filepath.ToSlash(name), path: path})
		case !entry.Type().IsRegular():
			f.errorf(diag.UnreadableFile, name, "remove it", "is not a regular file")
		default:
			f.append(dir, file{name: filepath.ToSlash(name), path: inTree, root: root})
		}
		return nil
	})
}

// isChart reports whether a directory has a file of a Helm chart's name next to what only a
// chart has.
func isChart(root *os.Root, dir string) bool {
	if info, err := root.Stat(filepath.Join(dir, "Chart.yaml")); err != nil || !info.Mode().IsRegular() {
		return false
	}
	return slices.ContainsFunc([]string{"templates", "charts", "values.yaml"}, func(part string) bool {
		_, err := root.Stat(filepath.Join(dir, part))
		return err == nil
	})
}

// link lists the file to which a link of a tree leads. No name or content from
// outside the tree gets into a message.
func (f *files) link(dir, real string, root *os.Root, link file) {
	target, err := filepath.EvalSymlinks(link.path)
	inTree, notBelow := filepath.Rel(real, target)
	if err != nil || notBelow != nil || !filepath.IsLocal(inTree) {
		f.errorf(diag.UnreadableFile, link.name, "remove it, or give the file itself", "is a link that leads to no file below %s", dir)
		return
	}
	info, err := root.Stat(inTree)
	switch {
	case err != nil:
		f.errorf(diag.UnreadableFile, link.name, "", "%s", readError(err))
	case info.IsDir():
		f.directoryLink(real, link.name, link.path)
	case !info.Mode().IsRegular():
		f.errorf(diag.UnreadableFile, link.name, "remove it", "is not a regular file")
	default:
		link.path, link.root = inTree, root
		f.append(dir, link)
	}
}

// directoryLink reports a link to a directory whose files are not read: the tree does not have
// it, or has it under a hidden name. Its files may deny what is then allowed. Links to
// other files are ignored, as files of their names are.
func (f *files) directoryLink(real, name, path string) {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return
	}
	if info, err := os.Stat(target); err != nil || !info.IsDir() {
		return
	}
	inTree, err := filepath.Rel(real, target)
	hidden := slices.ContainsFunc(strings.Split(filepath.ToSlash(inTree), "/"), func(part string) bool {
		return strings.HasPrefix(part, ".") && part != "."
	})
	if err != nil || !filepath.IsLocal(inTree) || hidden {
		f.errorf(diag.UnreadableFile, name, "remove it, or give the directory itself", "is a link to a directory whose files are not read")
	}
}

func readError(err error) string {
	if pathErr, ok := err.(*fs.PathError); ok {
		return "cannot be read: " + pathErr.Err.Error()
	}
	return "cannot be read: " + err.Error()
}

func isResourceFile(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}
