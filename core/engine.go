package core

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/mesh"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// Options are the options of an [Engine].
type Options struct {
	// Semantics is how policies are read (SPEC 17.1): [TargetRef], [Kuma] or [Kuma3], or
	// what [Detect] finds. There is no default: [Engine.Apply] returns [ErrNoSemantics].
	Semantics Semantics
	// Order is the order in which policies of one kind override each other. Nil is the
	// order of the semantics.
	Order results.Order
}

// Engine computes the effective configuration of all dataplanes, and updates it as
// resources are added, changed and removed. It is safe for concurrent use: readers take a
// [View] without waiting; writers wait for each other.
type Engine struct {
	current atomic.Pointer[View]

	// writing is a lock that a caller can stop waiting for: it contains a value while a
	// batch is applied. It guards the fields below.
	writing chan struct{}
	meshes  map[string]*mesh.Writer // see writer
	memory  mesh.Buffers
}

// NewEngine returns an engine without resources, for policies of the given
// kinds. Kinds are identified by name, so loaders may use other [resource.Kinds]
// with the same kinds. Nil kinds are none, so that each policy is an error of its batch.
func NewEngine(kinds *resource.Kinds, options Options) *Engine {
	if kinds == nil {
		kinds = resource.NewKinds()
	}
	if options.Order == nil {
		options.Order = options.Semantics.Order()
	}
	e := &Engine{writing: make(chan struct{}, 1), meshes: map[string]*mesh.Writer{}}
	e.current.Store(&View{
		kinds: kinds, reading: semantics.Reading(options), enforcement: enforce.Empty(), superseded: make(chan struct{}),
	})
	return e
}

// View returns the current view, by one atomic load.
func (e *Engine) View() *View { return e.current.Load() }

// Commit is the result of [Engine.Apply]: the views before and after. They are
// the same view if the batch changed nothing.
type Commit struct {
	Before, After *View
	// Warnings are about the batch: resources of a Kuma control plane, which [Detect] finds,
	// for an engine that reads policies by [TargetRef].
	Warnings []diag.Diagnostic
}

// Changes returns what changed for dataplanes; see [Compare].
func (c Commit) Changes() []Change { return Compare(c.Before, c.After) }

// DestinationChanges returns what changed for destinations; see [CompareDestinations].
func (c Commit) DestinationChanges() []DestinationChange {
	return CompareDestinations(c.Before, c.After)
}

// Apply applies a batch as a whole. An upsert that repeats a resource, with the same content
// and the same position in a file, changes nothing. When Apply returns, [Engine.View] returns
// the new view. If it returns an error, nothing changed. The error is one of these:
//
//   - a [diag.Errors], for resources that are invalid by SPEC 1.2 and for deletions of
//     resources that do not exist;
//   - an [ErrNoSemantics], a [results.ErrNoOrder] or an [ErrPanic];
//   - the cause of the context, if it ends before the batch is applied.
//
// After an ErrPanic or an ended context, the next batch first rebuilds the engine's state
// of the meshes concerned. This takes as long as their first batch.
func (e *Engine) Apply(ctx context.Context, batch Batch) (Commit, error) {
	if e.View().reading.Semantics == 0 {
		return Commit{}, ErrNoSemantics
	}
	sorted, err := admit(ctx, e.View().kinds, e.View().Semantics().Reading(), &batch)
	if err != nil {
		return Commit{}, err
	}
	if err := e.lock(ctx); err != nil {
		return Commit{}, err
	}
	defer e.unlock()
	before := e.View()
	if err := batch.checkDeletions(before); err != nil {
		return Commit{}, err
	}
	enforcement := batch.enforcement(before.enforcement)
	batches := batch.perMesh(before, enforcement, sorted)
	updates := make([]*mesh.Update, 0, len(batches))
	for _, b := range batches {
		w, err := e.writer(ctx, b.Mesh)
		if err != nil {
			return Commit{}, err
		}
		u, err := w.Prepare(ctx, b)
		if err != nil {
			return Commit{}, fmt.Errorf("mesh %q: %w", b.Mesh, err)
		}
		if u != nil {
			updates = append(updates, u)
		}
	}
	globals, edited := before.globals.After(batch.globals())
	if len(updates) == 0 && enforcement.Delta == nil && len(edited) == 0 {
		return Commit{Before: before, After: before}, nil
	}
	after := &View{
		kinds: before.kinds, reading: before.reading, meshes: slices.Clone(before.meshes), globals: globals,
		enforcement: enforcement.State, superseded: make(chan struct{}),
	}
	for _, u := range updates {
		name := u.Writer().Mesh()
		next, err := u.Run(ctx, &e.memory)
		if err != nil {
			for _, u := range updates { // their writers are ahead of the view, or inconsistent
				delete(e.meshes, u.Writer().Mesh())
			}
			return Commit{}, fmt.Errorf("mesh %q: %w", name, err)
		}
		after.put(name, next)
		if next == nil {
			delete(e.meshes, name)
		} else {
			e.meshes[name] = u.Writer()
		}
	}
	e.current.Store(after)
	close(before.superseded)
	return Commit{before, after, otherSemantics(before.Semantics(), batch.Upsert)}, nil
}

// lock waits until no other batch is applied, or the context ends.
func (e *Engine) lock(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case e.writing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (e *Engine) unlock() { <-e.writing }

// writer returns the writer of a mesh. If a published mesh has none, as after a failed
// update, the writer is rebuilt from the published view.
func (e *Engine) writer(ctx context.Context, name string) (*mesh.Writer, error) {
	if w := e.meshes[name]; w != nil {
		return w, nil
	}
	view := e.View()
	published := view.mesh(name)
	if published == nil {
		return mesh.NewWriter(name, view.kinds, view.reading), nil
	}
	w, err := mesh.Rebuild(ctx, published, view.reading, view.enforcement, &e.memory)
	if err == nil {
		e.meshes[name] = w
	}
	return w, err
}

// Sizes are the numbers that determine the cost of an engine.
type Sizes struct {
	Dataplanes int `json:"dataplanes"`
	Policies   int `json:"policies"`
	// Classes is the number of classes: sets of dataplanes that the same policies select.
	Classes int `json:"classes"`
	// Profiles is the number of profiles: sets of dataplanes of one class with the same
	// outbounds.
	Profiles int `json:"profiles"`
	// Blocks is the number of different merged confs and inbound configurations.
	Blocks int `json:"blocks"`
}

// Sizes returns the sizes over all meshes. After a batch that failed with
// [ErrPanic], the classes, profiles and blocks of its meshes are rebuilt first;
// a mesh for which that fails is counted without them.
func (e *Engine) Sizes() Sizes {
	ctx := context.Background()
	_ = e.lock(ctx) // it does not end
	defer e.unlock()
	var s Sizes
	for _, m := range e.View().meshes {
		dataplanes, policies := m.Len()
		s.Dataplanes += dataplanes
		s.Policies += policies
		if w, err := e.writer(ctx, m.Name()); err == nil {
			classes, profiles, blocks := w.Len()
			s.Classes += classes
			s.Profiles += profiles
			s.Blocks += blocks
		}
	}
	return s
}
