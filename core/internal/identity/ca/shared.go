package ca

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/meshmatch/meshmatch/core/internal/regular"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Shared keeps generated authorities for several servers, so that all of them issue
// certificates of one CA (SPEC 14.4).
type Shared interface {
	// Once returns the text that is kept for a MeshIdentity. If there is none, it keeps the
	// text that generate returns, unless another server is faster.
	Once(id resource.ID, generate func() ([]byte, error)) ([]byte, error)
}

// NewSharedAuthorities returns authorities that are generated once for all servers that
// share them. In a directory, which may be empty, they are also saved for a start without
// the others.
func NewSharedAuthorities(shared Shared, dir string) *Authorities {
	a := NewAuthorities(dir)
	a.shared, a.failed = shared, map[resource.ID]failure{}
	return a
}

// failure is the last error of a shared authority. It is returned again for a while, because
// the caller would wait for each attempt.
type failure struct {
	at  time.Time
	err error
}

// retry is how long a shared authority is not asked for again after an error.
const retry = 5 * time.Second

// fromShared returns the shared authority of a MeshIdentity.
func (a *Authorities) fromShared(source *resource.MeshIdentity, now time.Time) (*Authority, error) {
	if f := a.failed[source.ID]; f.err != nil && now.Sub(f.at) < retry {
		return nil, f.err
	}
	path := filepath.Join(a.dir, fileName(source.ID))
	text, err := a.shared.Once(source.ID, func() ([]byte, error) { return generateText(source, now) })
	if err != nil {
		if a.dir != "" {
			if authority, kept := readKept(path); kept == nil {
				return authority, nil
			}
		}
		a.failed[source.ID] = failure{now, err}
		return nil, err
	}
	authority, err := Parse(text, text)
	if err != nil {
		return nil, fmt.Errorf("the shared CA: %w", err)
	}
	if a.dir == "" {
		return authority, nil
	}
	if known, err := regular.ReadFile(nil, path, maxFile); err != nil || !bytes.Equal(known, text) {
		_ = os.Remove(path) // it is of another store, or there is none
		return authority, createFile(path, text)
	}
	return authority, nil
}
