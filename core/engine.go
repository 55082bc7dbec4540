package core

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/meshmatch/meshmatch/core/match"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Options are what an embedder may choose; the zero Options are SPEC.
type Options struct {
	// Order is how policies of one kind override each other; nil: SPEC 3.
	Order match.Order
}

// Engine keeps the effective configuration of all dataplanes while resources
// come, change and go. Readers take a [View] and never wait for a writer;
// writers wait for each other.
type Engine struct {
	kinds   *resource.Kinds
	order   match.Order
	current atomic.Pointer[View]

	mu      sync.Mutex             // of writers; guards what follows
	meshes  map[string]*meshWriter // see writer
	buffers []match.Buffer         // one for each worker
}

// NewEngine returns an engine without resources. Policies must be of the
// given kinds, by name: each loader may have made its own.
func NewEngine(kinds *resource.Kinds, options Options) *Engine {
	e := &Engine{
		kinds:  kinds,
		order:  options.Order,
		meshes: map[string]*meshWriter{},
	}
	e.current.Store(&View{kinds: kinds, superseded: make(chan struct{})})
	return e
}

// View returns the present state of the world. It costs one atomic load.
func (e *Engine) View() *View { return e.current.Load() }

// Commit is what a batch made of the world. Before and After are one view
// where it changed nothing.
type Commit struct{ Before, After *View }

// Changes tells what happened to dataplanes; see [Compare].
func (c Commit) Changes() []Change { return Compare(c.Before, c.After) }

// Apply makes the changes of a batch, all of them or, with an error, none: a
// [strict.Errors] for resources that SPEC 1.2 refuses, [match.ErrNoOrder], or
// [ErrPanic]. An upsert that says what is known already, at the same place of a
// file, changes nothing, as does deleting what is not there. Once Apply
// returns, everybody who asks for the [View] gets the new one.
func (e *Engine) Apply(batch Batch) (Commit, error) {
	if err := admit(e.kinds, &batch); err != nil {
		return Commit{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	before := e.View()
	batches := batch.perMesh()
	commits := make([]*meshCommit, 0, len(batches))
	for _, b := range batches {
		w, err := e.writer(b.mesh)
		if err != nil {
			return Commit{}, err
		}
		c, err := w.prepare(b)
		if err != nil {
			return Commit{}, fmt.Errorf("mesh %q: %w", b.mesh, err)
		}
		if c != nil {
			commits = append(commits, c)
		}
	}
	if len(commits) == 0 {
		return Commit{before, before}, nil
	}
	after := &View{kinds: e.kinds, meshes: slices.Clone(before.meshes), superseded: make(chan struct{})}
	for _, c := range commits {
		next, err := c.commit(e.workerBuffers())
		if err != nil {
			for _, c := range commits { // they are ahead of what is published, or broken
				delete(e.meshes, c.writer.name)
			}
			return Commit{}, fmt.Errorf("mesh %q: %w", c.writer.name, err)
		}
		after.put(c.writer.name, next)
		if c.writer.empty() {
			delete(e.meshes, c.writer.name)
		} else {
			e.meshes[c.writer.name] = c.writer
		}
	}
	e.current.Store(after)
	close(before.superseded)
	return Commit{before, after}, nil
}

// writer returns the writer of a mesh. Where there is none for a mesh that is
// published, as after a commit that failed, it is made from what is published.
func (e *Engine) writer(name string) (*meshWriter, error) {
	if w := e.meshes[name]; w != nil {
		return w, nil
	}
	w := newMeshWriter(name, e.kinds, e.order)
	if published := e.View().mesh(name); published != nil {
		c, err := w.prepare(published.batch())
		if err == nil {
			_, err = c.commit(e.workerBuffers())
		}
		if err != nil {
			return nil, fmt.Errorf("mesh %q: %w", name, err)
		}
		e.meshes[name] = w
	}
	return w, nil
}

// put sets the state of a mesh; nil where it is gone.
func (v *View) put(name string, m *meshView) {
	at, found := slices.BinarySearchFunc(v.meshes, name, func(m *meshView, name string) int { return strings.Compare(m.name, name) })
	switch {
	case m == nil && found:
		v.meshes = slices.Delete(v.meshes, at, at+1)
	case found:
		v.meshes[at] = m
	case m != nil:
		v.meshes = slices.Insert(v.meshes, at, m)
	}
}
