package source

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/meshmatch/meshmatch/core/resource"
)

// A Keeper keeps the input of the last good load in one file, so that a server can
// start without its files (SPEC 12.1).
//
// The file is a tar archive with the content of all files that were read, in order and
// under the names of their positions, and a last line `sha256 HASH` with the hash of the
// archive. It is only ever replaced as a whole.
type Keeper struct{ dir string }

// NewKeeper returns a keeper that has its file in a directory, which is created when
// something is recorded.
func NewKeeper(dir string) *Keeper { return &Keeper{dir} }

// ErrDamaged indicates that a file of kept input does not have the content that was
// written to it.
var ErrDamaged = errors.New("the file is damaged: its checksum does not match its content")

// Path returns the path of the file.
func (k *Keeper) Path() string { return filepath.Join(k.dir, "last-good-input.tar") }

const recordingPattern = "last-good-input-*.tmp"

// checksumLine is the last line of the file.
func checksumLine(h hash.Hash) string { return "sha256 " + hex.EncodeToString(h.Sum(nil)) + "\n" }

// Load returns the resources that are kept, and when they were kept. The error is
// [fs.ErrNotExist] if there are none, [ErrDamaged] with the path, or an error of the loader.
func (k *Keeper) Load(ctx context.Context, loader *resource.Loader) (*resource.Set, time.Time, error) {
	data, err := readState(k.Path())
	if err != nil {
		return nil, time.Time{}, err
	}
	info, err := os.Stat(k.Path())
	if err != nil {
		return nil, time.Time{}, err
	}
	inputs, err := unpack(data)
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("%s: %w", k.Path(), err)
	}
	set, err := loader.Decode(ctx, inputs...)
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("%s: %w", k.Path(), err)
	}
	return set, info.ModTime(), nil
}

// verified returns the content of a file, without its checksum.
func verified(data []byte) ([]byte, error) {
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

// unpack returns the inputs of a file.
func unpack(data []byte) ([]resource.Input, error) {
	content, err := verified(data)
	if err != nil {
		return nil, err
	}
	var inputs []resource.Input
	for archive := tar.NewReader(bytes.NewReader(content)); ; {
		header, err := archive.Next()
		if err == io.EOF {
			return inputs, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		if header.Size > int64(len(content)) {
			return nil, ErrDamaged
		}
		content := make([]byte, header.Size)
		if _, err := io.ReadFull(archive, content); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		inputs = append(inputs, resource.Input{Name: header.Name, Data: content, Walked: header.PAXRecords[walkedRecord] != ""})
	}
}

// maxState limits the size of a file with a state. A load has at most 1 GiB.
const maxState = 2 << 30

// readState returns the content of a file with a state. The file may be anything by now.
func readState(path string) ([]byte, error) { return resource.ReadFile(path, maxState) }

// walkedRecord is the record of an input that a directory has: what is no resource in it stays
// left out when it is read again (SPEC 1.1).
const walkedRecord = "MESHMATCH.walked"

// A Recording is the input of one load, in a temporary file. Its user calls Keep or
// Discard, once. It is used by one goroutine at a time. The methods of nil do nothing.
type Recording struct {
	keeper  *Keeper
	file    *os.File
	hash    hash.Hash
	buffer  *bufio.Writer // to the file and the hash
	archive *tar.Writer
	err     error // the first one

	// keep is called by Keep if there is no file, and parts are further recordings.
	keep  func() error
	parts []*Recording
}

// join returns a recording of several sources.
func join(parts []*Recording) *Recording { return &Recording{parts: parts} }

// abandoned is the age of a temporary file that no server writes any longer.
const abandoned = time.Hour

// record begins a recording.
func (k *Keeper) record() *Recording {
	if k == nil {
		return nil
	}
	r := &Recording{keeper: k, hash: sha256.New()}
	if r.err = os.MkdirAll(k.dir, 0o700); r.err != nil {
		return r
	}
	k.removeAbandoned()
	if r.file, r.err = os.CreateTemp(k.dir, recordingPattern); r.err != nil {
		return r
	}
	r.buffer = bufio.NewWriterSize(io.MultiWriter(r.file, r.hash), 64<<10)
	r.archive = tar.NewWriter(r.buffer)
	return r
}

// removeAbandoned removes the temporary files of servers that were killed.
func (k *Keeper) removeAbandoned() {
	paths, _ := filepath.Glob(filepath.Join(k.dir, recordingPattern))
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > abandoned {
			os.Remove(path)
		}
	}
}

// add adds an input.
func (r *Recording) add(in resource.Input) {
	if r == nil || r.err != nil {
		return
	}
	header := tar.Header{Name: in.Name, Mode: 0o600, Size: int64(len(in.Data)), Format: tar.FormatPAX}
	if in.Walked {
		header.PAXRecords = map[string]string{walkedRecord: "true"}
	}
	if r.err = r.archive.WriteHeader(&header); r.err == nil {
		_, r.err = r.archive.Write(in.Data)
	}
}

// Keep makes the recording the input that is kept. The error comes from the file system.
func (r *Recording) Keep() error {
	if r == nil {
		return nil
	}
	switch {
	case r.keep != nil:
		return r.keep()
	case r.parts != nil:
		var all error
		for _, part := range r.parts {
			all = errors.Join(all, part.Keep())
		}
		return all
	case r.keeper == nil:
		return nil
	}
	err := r.finish()
	if err == nil {
		err = os.Rename(r.file.Name(), r.keeper.Path())
	}
	if err != nil {
		r.Discard()
	}
	return err
}

// finish completes the temporary file.
func (r *Recording) finish() error {
	if r.err != nil {
		return r.err
	}
	if err := errors.Join(r.archive.Close(), r.buffer.Flush()); err != nil {
		return err
	}
	if _, err := r.file.WriteString(checksumLine(r.hash)); err != nil {
		return err
	}
	return errors.Join(r.file.Sync(), r.file.Close())
}

// Discard removes the recording.
func (r *Recording) Discard() {
	if r == nil {
		return
	}
	for _, part := range r.parts {
		part.Discard()
	}
	if r.file != nil {
		r.file.Close()
		os.Remove(r.file.Name())
	}
}
