package sourcetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Memory is a [source.Store] in memory. It is safe for concurrent use.
type Memory struct {
	Name string // of several ones; it is set before the store is used

	mu       sync.Mutex
	objects  map[string]source.Object
	log      []change // since the oldest known revision
	revision source.Revision
	oldest   source.Revision // changes after it are in the log
	lost     bool
	changed  chan struct{} // closed at the next change
}

type change struct {
	revision source.Revision
	objects  []source.Object
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{objects: map[string]source.Object{}, revision: 1, oldest: 1, changed: make(chan struct{})}
}

// ErrLost is the error of a store that was lost.
var ErrLost = errors.New("the connection is lost")

// String implements [source.Store].
func (m *Memory) String() string { return cmp.Or(m.Name, "memory") }

// Put makes changes at once. A key is KIND/MESH/NAMESPACE/NAME; an empty document deletes.
func (m *Memory) Put(documents map[resource.ID]string) source.Revision {
	var objects []source.Object
	for id, text := range documents {
		o := source.Object{Key: fmt.Sprintf("%s/%s/%s/%s", id.Kind, id.Mesh, id.Namespace, id.Name), ID: id}
		if text != "" {
			o.Data = []byte(text)
		}
		objects = append(objects, o)
	}
	return m.PutObjects(objects...)
}

// PutObjects makes changes at once, and names the versions.
func (m *Memory) PutObjects(objects ...source.Object) source.Revision {
	return m.edit(func() {
		m.revision++
		c := change{revision: m.revision}
		for _, o := range objects {
			o.At = fmt.Sprintf("memory://%s@%d", o.Key, m.revision)
			if o.Data != nil {
				m.objects[o.Key] = o
			} else {
				delete(m.objects, o.Key)
			}
			c.objects = append(c.objects, o)
		}
		m.log = append(m.log, c)
	})
}

// Revision returns the current revision.
func (m *Memory) Revision() source.Revision {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.revision
}

// Lose ends all connections and refuses new ones, until Restore.
func (m *Memory) Lose() { m.edit(func() { m.lost = true }) }

// Restore ends [Memory.Lose].
func (m *Memory) Restore() { m.edit(func() { m.lost = false }) }

// Forget forgets the log.
func (m *Memory) Forget() { m.edit(func() { m.log, m.oldest = nil, m.revision }) }

// SetBack makes the store have the objects of a copy, and its revision. Both are of the
// time when the copy was made.
func (m *Memory) SetBack(copied *Memory) {
	copied.mu.Lock()
	objects, revision := maps.Clone(copied.objects), copied.revision
	copied.mu.Unlock()
	m.edit(func() { m.objects, m.revision, m.oldest, m.log = objects, revision, revision, nil })
}

// Copy returns a copy.
func (m *Memory) Copy() *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := NewMemory()
	c.objects, c.revision, c.oldest = maps.Clone(m.objects), m.revision, m.revision
	return c
}

func (m *Memory) edit(edit func()) source.Revision {
	m.mu.Lock()
	defer m.mu.Unlock()
	edit()
	close(m.changed)
	m.changed = make(chan struct{})
	return m.revision
}

// memoryPage is the number of objects of a page.
const memoryPage = 2

// Follow implements [source.Store]. Lists have several pages.
func (m *Memory) Follow(ctx context.Context, since source.Since) iter.Seq2[*source.Page, error] {
	return func(yield func(*source.Page, error) bool) {
		for ctx.Err() == nil {
			pages, changed, err := m.next(since)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, p := range pages {
				if !yield(p, nil) {
					return
				}
				since = source.Since{Revision: p.Revision}
			}
			select {
			case <-changed:
			case <-time.After(time.Second / 2):
			case <-ctx.Done():
			}
		}
	}
}

// next returns the pages after a state, or one without objects if nothing has changed.
func (m *Memory) next(since source.Since) (pages []*source.Page, changed <-chan struct{}, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.lost:
		return nil, m.changed, ErrLost
	case m.revision < since.Revision:
		return nil, m.changed, fmt.Errorf("%w from revision %d to %d", source.ErrSetBack, since.Revision, m.revision)
	case since.List || since.Revision < m.oldest:
		return m.list(), m.changed, nil
	}
	for _, c := range m.log {
		if c.revision > since.Revision {
			pages = append(pages, &source.Page{Revision: c.revision, Objects: c.objects})
		}
	}
	if pages == nil {
		pages = []*source.Page{{Revision: m.revision}}
	}
	return pages, m.changed, nil
}

func (m *Memory) list() []*source.Page {
	pages := []*source.Page{{Revision: m.revision, Full: true}}
	for _, key := range slices.Sorted(maps.Keys(m.objects)) {
		last := pages[len(pages)-1]
		if len(last.Objects) == memoryPage {
			last.More = true
			last = &source.Page{Revision: m.revision}
			pages = append(pages, last)
		}
		last.Objects = append(last.Objects, m.objects[key])
	}
	return pages
}
