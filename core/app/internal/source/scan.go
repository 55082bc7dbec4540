package source

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// scan is what can be found about files without reading them.
type scan struct {
	files map[string]fs.FileInfo // by path; nil: there is no such file
	dirs  []string               // whose entries belong to the scan, and the directories above the paths
	at    time.Time
}

// newScan scans files and directory trees, without hidden directories. It contains
// at least what a load of the same paths reads.
func newScan(paths []string) *scan {
	s := &scan{files: map[string]fs.FileInfo{}, at: time.Now()}
	for _, path := range paths {
		s.path(path)
	}
	slices.Sort(s.dirs)
	s.dirs = slices.Compact(s.dirs)
	return s
}

// path scans a path, which may be a symbolic link.
func (s *scan) path(path string) {
	s.dirs = append(s.dirs, filepath.Dir(filepath.Clean(path)))
	info := s.file(path)
	if info == nil {
		return
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return
	}
	if !info.IsDir() {
		s.dirs = append(s.dirs, filepath.Dir(real))
		return
	}
	_ = filepath.WalkDir(real, func(at string, entry fs.DirEntry, err error) error {
		switch hidden := at != real && strings.HasPrefix(filepath.Base(at), "."); {
		case err != nil:
			s.files[at] = nil
		case hidden && entry.IsDir():
			return filepath.SkipDir
		case hidden:
		case entry.IsDir():
			s.dirs = append(s.dirs, at)
		default:
			s.file(at)
		}
		return nil
	})
}

// file adds a file, or what a link leads to.
func (s *scan) file(path string) fs.FileInfo {
	info, err := os.Stat(path)
	if err != nil {
		info = nil
	}
	s.files[path] = info
	return info
}

// recent reports whether a file changed so short a time before the scan that a
// later change may have left the same size and time.
func (s *scan) recent() bool {
	const resolution = 2 * time.Second // of the times of the coarsest file systems
	for _, info := range s.files {
		if info != nil && !info.IsDir() && info.ModTime().After(s.at.Add(-resolution)) && !info.ModTime().After(s.at.Add(resolution)) {
			return true
		}
	}
	return false
}

// equal reports whether both scans have found the same.
func (s *scan) equal(o *scan) bool {
	if len(s.files) != len(o.files) {
		return false
	}
	for path, a := range s.files {
		if b, known := o.files[path]; !known || !sameFile(a, b) {
			return false
		}
	}
	return true
}

// sameFile reports whether two infos are of one file that was not written in between.
// The times of directories are ignored, because a scan contains their entries.
func sameFile(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == b
	}
	return os.SameFile(a, b) && a.Mode() == b.Mode() &&
		(a.IsDir() || a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()))
}
