package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A file of an archive.
type file struct {
	content []byte
	mode    fs.FileMode
}

// archive writes the archive of a binary: a zip for Windows, else a compressed tar.
func (r *release) archive(b *binary, documents, licences map[string]file) error {
	files := map[string]file{b.name(): {b.content, 0o755}}
	maps.Copy(files, documents)
	maps.Copy(files, licences)
	name := fmt.Sprintf("meshmatch_%s_%s_%s", r.version, b.os, b.arch)
	var content []byte
	var err error
	if b.os == "windows" {
		name += ".zip"
		content, err = zipped(files, r.commit)
	} else {
		name += ".tar.gz"
		content, err = compressed(files, r.commit)
	}
	if err != nil {
		return err
	}
	b.archive, b.sum = filepath.Join(r.out, name), sha256.Sum256(content)
	return os.WriteFile(b.archive, content, 0o644)
}

// tarred returns a tar of files by name, all of the same time and of root.
func tarred(files map[string]file, at time.Time) ([]byte, error) {
	var content bytes.Buffer
	w := tar.NewWriter(&content)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := files[name]
		header := &tar.Header{Name: name, Mode: int64(f.mode), Size: int64(len(f.content)), ModTime: at, Format: tar.FormatUSTAR}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return content.Bytes(), err
}

// compressed returns a compressed tar. The header of gzip has no name and no time.
func compressed(files map[string]file, at time.Time) ([]byte, error) {
	content, err := tarred(files, at)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}

// zipped returns a zip of files by name.
func zipped(files map[string]file, at time.Time) ([]byte, error) {
	var content bytes.Buffer
	w := zip.NewWriter(&content)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: at}
		header.SetMode(files[name].mode)
		f, err := w.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(files[name].content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return content.Bytes(), err
}
