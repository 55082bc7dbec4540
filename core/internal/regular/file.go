package regular

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// The errors of a file, in an [fs.PathError], and of a reader.
var (
	ErrNotRegular = errors.New("it is not a regular file")
	ErrTooLarge   = errors.New("it is too large")
)

// ReadFile returns the content of a file of at most limit bytes. If root is not nil, the path is
// relative to it, and links that lead out of it are not followed. The error is one of the file
// system, or has [ErrNotRegular] or [ErrTooLarge].
func ReadFile(root *os.Root, path string, limit int64) ([]byte, error) {
	const flags = os.O_RDONLY | syscall.O_NONBLOCK
	var opened *os.File
	var err error
	if root != nil {
		opened, err = root.OpenFile(path, flags, 0)
	} else {
		opened, err = os.OpenFile(path, flags, 0)
	}
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	info, err := opened.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "read", Path: path, Err: ErrNotRegular}
	case info.Size() > limit:
		return nil, &fs.PathError{Op: "read", Path: path, Err: ErrTooLarge}
	}
	data, err := ReadAll(opened, info.Size(), limit)
	if err == ErrTooLarge {
		err = &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return data, err
}

// ReadGiven reads a file as [ReadFile] does. It must be one of the given paths, or below one of them,
// which is a directory. Links that lead out of that directory are not followed.
func ReadGiven(given []string, path string, limit int64) ([]byte, error) {
	for _, dir := range given {
		below, err := filepath.Rel(filepath.Clean(dir), filepath.Clean(path))
		if err != nil || below == "." || !filepath.IsLocal(below) {
			continue
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		return ReadFile(root, below, limit)
	}
	if !slices.ContainsFunc(given, func(one string) bool { return filepath.Clean(one) == filepath.Clean(path) }) {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
	}
	return ReadFile(nil, path, limit)
}

// ReadAll returns what a reader of about the given size has, or [ErrTooLarge].
func ReadAll(r io.Reader, size, limit int64) ([]byte, error) {
	var data bytes.Buffer
	data.Grow(int(size) + bytes.MinRead) // find the end without growing again
	_, err := data.ReadFrom(io.LimitReader(r, limit+1))
	if int64(data.Len()) > limit {
		return nil, ErrTooLarge
	}
	return data.Bytes(), err
}
