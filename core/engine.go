package core

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/meshmatch/meshmatch/core/enforce"
	"github.com/meshmatch/meshmatch/core/internal/match"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// Options are the options of an [Engine]. The zero Options are ready to use.
type Options struct {
	// Order is the order in which policies of one kind override each other; nil
	// is [rules.DefaultOrder].
	Order rules.Order
}

// Engine computes the effective configuration of all dataplanes, and updates it
// as resources are added, changed and removed. It is safe for concurrent use:
// readers take a [View] without waiting, writers wait for each other.
type Engine struct {
	kinds   *resource.Kinds
	order   rules.Order
	current atomic.Pointer[View]

	mu      sync.Mutex             // of writers; guards what follows
	meshes  map[string]*meshWriter // see writer
	buffers []match.Buffer         // one for each worker
}

// NewEngine returns an engine without resources, for policies of the given
// kinds. Kinds are identified by name, so loaders may use other [resource.Kinds]
// with the same kinds.
func NewEngine(kinds *resource.Kinds, options Options) *Engine {
	e := &Engine{
		kinds:  kinds,
		order:  options.Order,
		meshes: map[string]*meshWriter{},
	}
	e.current.Store(&View{kinds: kinds, enforcement: enforce.Empty(), superseded: make(chan struct{})})
	return e
}

// View returns the present view. It costs one atomic load.
func (e *Engine) View() *View { return e.current.Load() }

// Commit is the result of [Engine.Apply]: the views before and after. They are
// the same view if the batch changed nothing.
type Commit struct{ Before, After *View }

// Changes returns what changed for dataplanes; see [Compare].
func (c Commit) Changes() []Change { return Compare(c.Before, c.After) }

// Apply applies a batch as a whole. If it returns an error, nothing changed: a
// [diag.Errors] for resources that are invalid by SPEC 1.2, a [rules.ErrNoOrder],
// or an [ErrPanic]. An upsert that repeats a resource, with the same content and
// the same position in a file, changes nothing; so does deleting a resource that
// does not exist. When Apply returns, [Engine.View] returns the new view.
func (e *Engine) Apply(batch Batch) (Commit, error) {
	if err := admit(e.kinds, &batch); err != nil {
		return Commit{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	before := e.View()
	enforcement := batch.enforcement(before.enforcement)
	batches := batch.perMesh(before, enforcement)
	updates := make([]*meshUpdate, 0, len(batches))
	for _, b := range batches {
		w, err := e.writer(b.mesh)
		if err != nil {
			return Commit{}, err
		}
		u, err := w.prepare(b)
		if err != nil {
			return Commit{}, fmt.Errorf("mesh %q: %w", b.mesh, err)
		}
		if u != nil {
			updates = append(updates, u)
		}
	}
	if len(updates) == 0 && enforcement.delta == nil {
		return Commit{before, before}, nil
	}
	after := &View{
		kinds: e.kinds, meshes: slices.Clone(before.meshes),
		enforcement: enforcement.state, superseded: make(chan struct{}),
	}
	for _, u := range updates {
		next, err := u.run(e.workerBuffers())
		if err != nil {
			for _, u := range updates { // their writers are ahead of the view, or inconsistent
				delete(e.meshes, u.name)
			}
			return Commit{}, fmt.Errorf("mesh %q: %w", u.name, err)
		}
		after.put(u.name, next)
		if u.empty() {
			delete(e.meshes, u.name)
		} else {
			e.meshes[u.name] = u.meshWriter
		}
	}
	e.current.Store(after)
	close(before.superseded)
	return Commit{before, after}, nil
}

// writer returns the writer of a mesh. If a published mesh has none, as after an
// update that failed, it is rebuilt from what is published.
func (e *Engine) writer(name string) (*meshWriter, error) {
	if w := e.meshes[name]; w != nil {
		return w, nil
	}
	w := newMeshWriter(name, e.kinds, e.order)
	if published := e.View().mesh(name); published != nil {
		rebuild := published.batch()
		rebuild.enforce.state = e.View().enforcement
		u, err := w.prepare(rebuild)
		if err == nil {
			_, err = u.run(e.workerBuffers())
		}
		if err != nil {
			return nil, fmt.Errorf("mesh %q: %w", name, err)
		}
		e.meshes[name] = w
	}
	return w, nil
}

// put sets the state of a mesh; nil removes the mesh.
func (v *View) put(name string, m *meshView) {
	at, found := v.find(name)
	switch {
	case m == nil && found:
		v.meshes = slices.Delete(v.meshes, at, at+1)
	case found:
		v.meshes[at] = m
	case m != nil:
		v.meshes = slices.Insert(v.meshes, at, m)
	}
}

// Sizes are the numbers that the costs of an engine follow.
type Sizes struct {
	Dataplanes int `json:"dataplanes"`
	Policies   int `json:"policies"`
	// Classes is the number of sets of dataplanes that the same policies select.
	Classes int `json:"classes"`
	// Profiles is the number of sets of dataplanes of one class with the same
	// outbounds.
	Profiles int `json:"profiles"`
	// Blocks is the number of different merged confs and inbound configurations.
	Blocks int `json:"blocks"`
}

// Sizes returns the sizes over all meshes. After a batch that failed with
// [ErrPanic], the classes, profiles and blocks of its meshes are rebuilt first;
// a mesh for which that fails is counted without them.
func (e *Engine) Sizes() Sizes {
	e.mu.Lock()
	defer e.mu.Unlock()
	var s Sizes
	for _, m := range e.View().meshes {
		s.Dataplanes += m.slots.Len()
		s.Policies += m.index.Len()
		if w, err := e.writer(m.name); err == nil {
			s.Classes += w.classes.Len()
			s.Blocks += w.blocks.Len()
			s.Profiles += w.profiles.len()
		}
	}
	return s
}
