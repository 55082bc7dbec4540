package source

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/kept"
	"github.com/meshmatch/meshmatch/core/resource"
)

// A Keeper keeps the input of the last good load in one file, so that a server can
// start without its files (SPEC 12.1).
//
// The file (package kept) is a tar archive with the content of all files that were read, in order
// and under the names of their positions.
type Keeper struct{ dir string }

// NewKeeper returns a keeper that has its file in a directory, which is created when
// something is recorded.
func NewKeeper(dir string) *Keeper { return &Keeper{dir} }

// Path returns the path of the file.
func (k *Keeper) Path() string { return filepath.Join(k.dir, "last-good-input.tar") }

// Load returns the resources that are kept, and when they were kept. The error is
// [fs.ErrNotExist] if there are none, [kept.ErrDamaged] with the path, or an error of the loader.
func (k *Keeper) Load(ctx context.Context, loader *resource.Loader) (*resource.Set, time.Time, error) {
	var inputs []resource.Input
	err := eachEntry(k.Path(), func(header *tar.Header, content []byte) error {
		inputs = append(inputs, resource.Input{Name: header.Name, Data: content, Walked: header.PAXRecords[walkedRecord] != ""})
		return nil
	})
	if err != nil {
		return nil, time.Time{}, err
	}
	info, err := os.Stat(k.Path())
	if err != nil {
		return nil, time.Time{}, err
	}
	set, err := loader.Decode(ctx, inputs...)
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("%s: %w", k.Path(), err)
	}
	return set, info.ModTime(), nil
}

// maxState limits the size of a file with a state. A load has at most 1 GiB.
const maxState = 2 << 30

// eachEntry calls a function for each entry of the archive in a kept file. The error is from
// reading the file or, with its path, [kept.ErrDamaged] or from the function.
func eachEntry(path string, do func(*tar.Header, []byte) error) (err error) {
	content, err := kept.Read(path, maxState)
	if err != nil && !errors.Is(err, kept.ErrDamaged) {
		return err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}()
	for archive := tar.NewReader(bytes.NewReader(content)); err == nil; {
		header, next := archive.Next()
		switch {
		case next == io.EOF:
			return nil
		case next != nil:
			return fmt.Errorf("%w: %w", kept.ErrDamaged, next)
		case header.Size > int64(len(content)):
			return kept.ErrDamaged
		}
		entry := make([]byte, header.Size)
		if _, err := io.ReadFull(archive, entry); err != nil {
			return fmt.Errorf("%w: %w", kept.ErrDamaged, err)
		}
		err = do(header, entry)
	}
	return err
}

// walkedRecord is the record of an input that a directory has: what is no resource in it stays
// left out when it is read again (SPEC 1.1).
const walkedRecord = "MESHMATCH.walked"

// A Recording is the input of one load, in a temporary file. Its user calls Keep or
// Discard, once. It is used by one goroutine at a time. The methods of nil do nothing.
type Recording struct {
	file    *kept.File
	archive *tar.Writer // to the file
	err     error       // the first one

	// keep is called by Keep if there is no file, and parts are further recordings.
	keep  func() error
	parts []*Recording
}

// join returns a recording of several sources.
func join(parts []*Recording) *Recording { return &Recording{parts: parts} }

// record begins a recording.
func (k *Keeper) record() *Recording {
	if k == nil {
		return nil
	}
	r := &Recording{}
	if r.file, r.err = kept.Create(k.Path()); r.err == nil {
		r.archive = tar.NewWriter(r.file)
	}
	return r
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
	case r.file == nil:
		return r.err
	}
	if r.err == nil {
		r.err = r.archive.Close()
	}
	if r.err != nil {
		r.Discard()
		return r.err
	}
	return r.file.Keep()
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
		r.file.Discard()
	}
}
