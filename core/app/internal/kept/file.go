package kept

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/meshmatch/meshmatch/core/internal/regular"
)

// ErrDamaged indicates that a file does not have the content that was written to it.
var ErrDamaged = errors.New("the file is damaged: its checksum does not match its content")

// File is a content that is being written. Its user calls Keep or Discard, once.
type File struct {
	*bufio.Writer // to the temporary file and the hash
	path          string
	temporary     *os.File
	hash          hash.Hash
}

// Create begins a content for the file with a path, whose directory it makes.
func Create(path string) (*File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	removeAbandoned(path)
	temporary, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+temporaryPattern) // of mode 0600
	if err != nil {
		return nil, err
	}
	f := &File{path: path, temporary: temporary, hash: sha256.New()}
	f.Writer = bufio.NewWriterSize(io.MultiWriter(temporary, f.hash), 64<<10)
	return f, nil
}

const (
	temporaryPattern = "-*.tmp"
	// abandoned is the age of a temporary file that no process writes any longer.
	abandoned = time.Hour
)

// removeAbandoned removes the temporary files of processes that were killed.
func removeAbandoned(path string) {
	files, _ := filepath.Glob(path + temporaryPattern)
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && time.Since(info.ModTime()) > abandoned {
			_ = os.Remove(file)
		}
	}
}

// Keep makes the content the file's. The error comes from the file system.
func (f *File) Keep() error {
	err := f.Flush()
	if err == nil {
		_, err = f.temporary.WriteString(checksumLine(f.hash))
	}
	if err = errors.Join(err, f.temporary.Sync(), f.temporary.Close()); err == nil {
		err = os.Rename(f.temporary.Name(), f.path)
	}
	if err != nil {
		f.Discard()
	}
	return err
}

// Discard removes the temporary file.
func (f *File) Discard() {
	_ = f.temporary.Close()
	_ = os.Remove(f.temporary.Name())
}

// checksumLine is the last line of a file.
func checksumLine(h hash.Hash) string { return "sha256 " + hex.EncodeToString(h.Sum(nil)) + "\n" }

// Read returns the content of a file of at most limit bytes. The error is [ErrDamaged], or one of
// [regular.ReadFile]: the file may be anything by now.
func Read(path string, limit int64) ([]byte, error) {
	data, err := regular.ReadFile(nil, path, limit)
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	end := len(data) - len(checksumLine(h))
	if end < 0 {
		return nil, ErrDamaged
	}
	h.Write(data[:end])
	if string(data[end:]) != checksumLine(h) {
		return nil, ErrDamaged
	}
	return data[:end], nil
}
