package sourcetest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Subject is a source under test, and what a test does to the place that it reads. The
// place begins empty.
type Subject struct {
	Source source.Source
	// Write makes changes at once.
	Write func(t *testing.T, documents ...Document)
	// Lose makes the place unreachable, and Restore ends that. While it is unreachable, Write
	// works. Nil: it cannot be lost.
	Lose, Restore func(t *testing.T)
	// Forget makes the place forget all earlier changes, so that a source that comes back
	// has to list everything. Nil: it keeps no changes.
	Forget func(t *testing.T)
	// Separately means that Write makes one change after the other, because the place has
	// no transactions.
	Separately bool
	// Whole means that an invalid document makes a whole state invalid, as in files.
	Whole bool
}

// Document is a resource of the mesh default.
type Document struct {
	Kind, Name string
	// Spec is the spec as JSON; empty: the resource is deleted.
	Spec string
}

// Universal returns the document in the universal spelling.
func (d *Document) Universal() string {
	return fmt.Sprintf(`{"type": %q, "mesh": "default", "name": %q, "spec": %s}`, d.Kind, d.Name, d.Spec)
}

// Kubernetes returns the document in the Kubernetes spelling.
func (d *Document) Kubernetes(namespace string) string {
	return fmt.Sprintf(`{"apiVersion": "kuma.io/v1alpha1", "kind": %q, "metadata": {"name": %q, "namespace": %q, "labels": {"kuma.io/mesh": "default"}}, "spec": %s}`,
		d.Kind, d.Name, namespace, d.Spec)
}

// Dataplane returns a dataplane with an address.
func Dataplane(name string, address string) Document {
	return Document{"Dataplane", name, fmt.Sprintf(`{"networking": {"address": %q, "inbound": [{"port": 80, "tags": {"kuma.io/service": "web"}}]}}`, address)}
}

// Timeout returns a MeshTimeout. It is invalid if the duration is, such as "soon".
func Timeout(name, duration string) Document {
	return Document{"MeshTimeout", name, fmt.Sprintf(`{"to": [{"default": {"idleTimeout": %q}}]}`, duration)}
}

// Deleted returns the deletion of a document.
func Deleted(d Document) Document { return Document{d.Kind, d.Name, ""} }

// Loader returns the loader that sources of the suite use.
func Loader() *resource.Loader { return &resource.Loader{Kinds: kinds.All()} }

// watched is a source that is watched. Its engine has the resources of all batches.
type watched struct {
	t      *testing.T
	engine *core.Engine
	stop   context.CancelFunc
	ended  chan struct{}

	mu      sync.Mutex
	changed chan struct{} // closed at the next update or error
	updates []*source.Update
	last    *source.Update
	err     error // since the last update
}

// watch begins to watch a source.
func watch(t *testing.T, s source.Source) *watched {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	w := &watched{t: t, engine: core.NewEngine(kinds.All(), core.Options{Semantics: core.TargetRef}), stop: cancel, ended: make(chan struct{}), changed: make(chan struct{})}
	t.Cleanup(func() { cancel(); <-w.ended })
	go func() {
		defer close(w.ended)
		for update, err := range s.Watch(ctx) {
			w.add(update, err)
		}
	}()
	return w
}

func (w *watched) add(update *source.Update, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer func() { close(w.changed); w.changed = make(chan struct{}) }()
	if err != nil {
		w.err = err
		return
	}
	update.Recording.Discard()
	if w.last != nil && update.Revision < w.last.Revision {
		w.t.Errorf("revision %d follows %d", update.Revision, w.last.Revision)
	}
	if update.Revision < 1 || update.Current.IsZero() {
		w.t.Errorf("an update has revision %d, of %v", update.Revision, update.Current)
	}
	if _, err := w.engine.Apply(w.t.Context(), update.Batch); err != nil {
		w.t.Errorf("a batch cannot be applied: %v", err)
	}
	if got, want := describe(fromView(w.engine.View())), describe(update.Set); got != want {
		w.t.Errorf("the batches result in %s, the set has %s", got, want)
	}
	w.updates = append(w.updates, update)
	w.last, w.err = update, nil
}

// until waits until a condition holds for the last update, which may be nil, and the error
// since, and returns the update.
func (w *watched) until(what string, condition func(*source.Update, error) bool) *source.Update {
	w.t.Helper()
	limit := time.After(time.Minute)
	for {
		w.mu.Lock()
		last, err, changed := w.last, w.err, w.changed
		w.mu.Unlock()
		if condition(last, err) {
			return last
		}
		select {
		case <-changed:
		case <-limit:
			w.t.Fatalf("no %s; the last state is %s, the error since is %v", what, describe(setOf(last)), err)
		}
	}
}

// state waits until the last update has exactly these resources and no error follows it.
func (w *watched) state(want string) *source.Update {
	w.t.Helper()
	return w.until("state "+want, func(u *source.Update, err error) bool { return u != nil && err == nil && describe(u.Set) == want })
}

func setOf(u *source.Update) *resource.Set {
	if u == nil {
		return new(resource.Set)
	}
	return u.Set
}
