package kubernetes

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/source"
)

const (
	// pulse is the interval in which a state is confirmed.
	pulse = 500 * time.Millisecond
	// rediscovery is the interval in which the served kinds are asked for again.
	rediscovery = 10 * time.Second
)

// kindWatch is the state of a kind that is followed. Only the caller of Follow uses the
// fields below served.
type kindWatch struct {
	served

	stop    context.CancelFunc
	listing bool
	listed  map[string]bool   // the keys of the list so far
	known   map[string]uint64 // the resource versions of all objects that were passed on
	version uint64            // the resource version that the kind has reached
	before  history           // of the Follow before
}

// Follow implements [source.Store].
func (s *Store) Follow(ctx context.Context, since source.Since) iter.Seq2[*source.Page, error] {
	return func(yield func(*source.Page, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		f := &storeFollow{
			Store: s, since: since, yield: yield, kinds: map[string]*kindWatch{}, revision: uint64(since.Revision),
			news: make(chan news), beats: make(chan beat), secrets: &secrets{map[string]source.Object{}, map[string]string{}, map[string][]string{}},
		}
		defer f.keepHistory()
		defer f.group.Wait()
		defer cancel()
		if err := f.run(ctx); err != nil && ctx.Err() == nil && !f.stopped {
			yield(nil, err)
		}
	}
}

// storeFollow is one call of Follow.
type storeFollow struct {
	*Store
	since   source.Since
	yield   func(*source.Page, error) bool
	stopped bool           // by the caller
	group   sync.WaitGroup // of all goroutines
	news    chan news
	beats   chan beat

	// doubt reports that a kind was missing at a request: its definition was deleted, or
	// the server does not serve it yet. The served kinds are requested again.
	doubt    atomic.Bool
	secrets  *secrets
	kinds    map[string]*kindWatch // by path
	listing  int                   // kinds that are being listed
	full     bool                  // the first page was yielded
	complete bool                  // a complete state was yielded
	revision uint64                // the largest resource version
}

// beat is the result of one beat of the pulse.
type beat struct {
	served []served // nil: they were not asked for
	err    error
}

func (f *storeFollow) run(ctx context.Context) error {
	if f.since.Revision == 0 {
		f.forget()
	}
	kinds, err := f.settled(ctx)
	if err != nil {
		return err
	}
	f.group.Go(func() { f.pulse(ctx) })
	f.update(ctx, kinds)
	for !f.stopped {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case b := <-f.beats:
			if b.err != nil {
				return b.err
			}
			if b.served != nil {
				f.update(ctx, b.served)
			}
			if f.complete && f.listing == 0 {
				f.page(nil)
			}
		case n := <-f.news:
			if err := f.handle(ctx, &n); err != nil {
				return err
			}
		}
	}
	return nil
}

// pulse asks in intervals whether the API server is ready, and which kinds it serves.
func (f *storeFollow) pulse(ctx context.Context) {
	asked := time.Now()
	for ctx.Err() == nil {
		source.Sleep(ctx, pulse)
		b := beat{}
		if f.doubt.Swap(false) || time.Since(asked) >= rediscovery {
			b.served, b.err = f.settled(ctx)
			asked = time.Now()
		} else {
			b.err = f.ready(ctx)
		}
		select {
		case f.beats <- b:
		case <-ctx.Done():
		}
	}
}

// settled returns the kinds that the API server serves. A server that starts serves them one
// after another, so it must be ready before and after the request: a kind that it does not
// serve yet would be taken for one whose definition was deleted, and all of its objects would
// be gone.
func (f *storeFollow) settled(ctx context.Context) ([]served, error) {
	if err := f.ready(ctx); err != nil {
		return nil, err
	}
	kinds, err := f.discover(ctx)
	if err != nil {
		return nil, err
	}
	return kinds, f.ready(ctx)
}

// ready returns an error if the API server is not ready. If the user may not ask for
// readiness, an answer with the version is enough.
func (f *storeFollow) ready(ctx context.Context) error {
	err := f.get(ctx, "/readyz", nil)
	if hasCode(err, http.StatusForbidden) || hasCode(err, http.StatusNotFound) {
		err = f.get(ctx, "/version", nil)
	}
	return err
}

// update starts to follow kinds that are new, and ends for those that are gone.
func (f *storeFollow) update(ctx context.Context, kinds []served) {
	gone := map[string]*kindWatch{}
	maps.Copy(gone, f.kinds)
	for _, k := range kinds {
		if gone[k.path] != nil {
			delete(gone, k.path)
			continue
		}
		kind := &kindWatch{served: k, known: map[string]uint64{}, before: f.history(k.groupKind)}
		f.kinds[k.path] = kind
		f.begin(kind)
		kindContext, stop := context.WithCancel(ctx)
		kind.stop = stop
		f.group.Go(func() {
			defer stop()
			(&follower{store: f.Store, kind: kind, out: f.news}).run(kindContext)
		})
	}
	for _, kind := range gone {
		f.remove(kind)
	}
}

// begin marks a kind as being listed.
func (f *storeFollow) begin(kind *kindWatch) {
	if !kind.listing {
		kind.listing = true
		f.listing++
	}
	kind.listed = map[string]bool{}
}

// remove passes on that a kind and its objects are gone.
func (f *storeFollow) remove(kind *kindWatch) {
	kind.stop()
	delete(f.kinds, kind.path)
	if kind.listing {
		kind.listing = false
		f.listing--
	}
	f.page(kind.except(nil))
}

// except returns the deletions of the known objects that a list does not have.
func (k *kindWatch) except(listed map[string]bool) []source.Object {
	var deletions []source.Object
	for key := range k.known {
		if !listed[key] {
			delete(k.known, key)
			deletions = append(deletions, source.Object{Key: k.group + "/" + k.kind + "/" + key})
		}
	}
	return deletions
}

// handle passes on news of a kind.
func (f *storeFollow) handle(ctx context.Context, n *news) error {
	kind := n.kind
	switch {
	case f.kinds[kind.path] != kind:
		return nil // it is gone
	case n.err != nil:
		return n.err
	case n.missing:
		f.begin(kind)
		f.doubt.Store(true)
		return nil
	}
	if n.begins {
		f.begin(kind)
	}
	var changed []source.Object
	for i := range n.objects {
		o := &n.objects[i]
		deleted := o.stored.Data == nil
		if kind.listing && !deleted {
			if err := kind.earlier().admits(kind, o); err != nil {
				return err
			}
			kind.listed[o.key] = true
		}
		switch known, there := kind.known[o.key]; {
		case deleted:
			delete(kind.known, o.key)
			delete(kind.listed, o.key)
		case there && known == o.version:
			continue
		default:
			kind.known[o.key] = o.version
		}
		changed = append(changed, o.stored)
	}
	if n.ends {
		if floor := f.floor(kind.groupKind); n.version < floor {
			return fmt.Errorf("%w: %s is at resource version %d, after %d", source.ErrSetBack, kind.kind, n.version, floor)
		}
		earlier := kind.earlier()
		if err := f.deleted(ctx, kind, earlier.missing(kind.listed), earlier.version); err != nil {
			return err
		}
		changed = append(changed, kind.except(kind.listed)...)
		kind.listing, kind.listed = false, nil
		f.listing--
	}
	kind.version = max(kind.version, n.version)
	f.revision = max(f.revision, n.version)
	if len(changed) > 0 || n.ends {
		f.page(changed)
	}
	return nil
}

// page yields changes. The state is complete if no kind is being listed.
func (f *storeFollow) page(objects []source.Object) {
	if f.stopped {
		return
	}
	if f.Store.secrets {
		objects = f.secrets.filter(objects)
	}
	p := &source.Page{Revision: source.Revision(f.revision), Full: !f.full, More: f.listing > 0, Objects: objects}
	f.full = true
	if !p.More {
		f.complete = true
		f.keep()
	}
	f.stopped = !f.yield(p, nil)
}

// forget accepts any state.
func (s *Store) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.floors)
	s.histories = nil
}

func (s *Store) floor(kind groupKind) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.floors[kind]
}

// keep records the resource versions of a complete state.
func (f *storeFollow) keep() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, kind := range f.kinds {
		f.floors[kind.groupKind] = max(f.floors[kind.groupKind], kind.version)
	}
}
