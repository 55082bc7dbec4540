package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/meshmatch/meshmatch/core/resource"
)

// The durations of a [Stored] that has none of its own.
const (
	DefaultMoment   = 20 * time.Millisecond
	DefaultPatience = 5 * time.Second
	maxBackOff      = 5 * time.Second
)

// Stored is the [Source] of the resources of a [Store]. It decodes objects, keeps the
// last good version of an object that does not load, and follows the store again after
// losses (SPEC 14.3).
type Stored struct {
	Store Store
	// Loader decodes the documents. Its Cache and Read are not used.
	Loader *resource.Loader
	// Moment is how long changes are collected that become one batch; 0 means
	// [DefaultMoment].
	Moment time.Duration
	// Patience is how long a store may be silent until it counts as lost; 0 means
	// [DefaultPatience].
	Patience time.Duration
	// Busy has each load while it runs; nil: nothing does.
	Busy *Busy
	// Keeper keeps the state; nil: it is not kept.
	Keeper *StoreKeeper
	// Notice is called with problems of the Keeper. Nil ignores them.
	Notice func(error)
	// AcceptRollback accepts the state of a store that was set back; see [ErrSetBack].
	AcceptRollback bool
}

// String implements [Source].
func (s *Stored) String() string { return s.Store.String() }

// Watch implements [Source].
func (s *Stored) Watch(ctx context.Context) iter.Seq2[*Update, error] {
	return func(yield func(*Update, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		box := &inbox{arrived: make(chan struct{}, 1), room: make(chan struct{}, 1)}
		w := &storeWatch{Stored: s, inbox: box, objects: newObjects(s.Loader), staged: new(staged)}
		w.resume(ctx)
		ended := make(chan struct{})
		defer func() { cancel(); <-ended; w.finish() }()
		go func() {
			defer close(ended)
			w.follow(ctx)
		}()
		w.run(ctx, yield)
	}
}

// storeWatch is the state of one call of [Stored.Watch]. One goroutine, of follow, reads
// the store; another one, of run, has all else.
type storeWatch struct {
	*Stored
	inbox *inbox

	objects  *objects
	staged   *staged       // the part of the next state that has come
	set      *resource.Set // nil: none yet
	shown    *resource.Set // set without the Secrets that are reserved
	yielded  *resource.Set // by the last update
	kept     *keptState    // at the start; nil: none
	saver    saver
	revision Revision     // of set
	current  time.Time    // when set was last confirmed
	applied  atomic.Int64 // the revision that the reader has applied
	failure  string       // the last error that was yielded; empty: none since the last update
}

// follow reads the store until the context ends.
func (w *storeWatch) follow(ctx context.Context) {
	since := Since{List: true}
	if w.kept != nil && !w.AcceptRollback {
		since.Revision = w.kept.revision
	}
	setBack := w.kept != nil && w.Keeper.isSetBack() && !w.AcceptRollback
	if w.AcceptRollback {
		w.Keeper.rememberSetBack(false)
	}
	for attempt := 0; ctx.Err() == nil; attempt++ {
		// A store that was set back has another history, even when its revision passes the old
		// one.
		if setBack {
			w.inbox.put(ctx, news{err: errWasSetBack, at: time.Now()})
			Sleep(ctx, maxBackOff)
			continue
		}
		complete := since.Revision
		var failure error
		for page, err := range w.Store.Follow(ctx, since) {
			if err != nil {
				failure = err
				break
			}
			if page.Revision < complete && !since.accepts() {
				failure = fmt.Errorf("%w: it is at revision %d, after %d", ErrSetBack, page.Revision, complete)
				break
			}
			if !page.More {
				attempt, complete = 0, page.Revision
				since = Since{Revision: complete}
			}
			w.inbox.put(ctx, news{page: page, at: time.Now()})
		}
		if ctx.Err() != nil {
			return
		}
		if w.AcceptRollback && errors.Is(failure, ErrSetBack) {
			since = Since{List: true}
			w.inbox.put(ctx, news{err: errRollback, at: time.Now()})
			continue
		}
		if errors.Is(failure, ErrSetBack) {
			setBack = true
			w.Keeper.rememberSetBack(true)
		}
		w.inbox.put(ctx, news{err: cmp.Or(failure, errEnded), at: time.Now()})
		Sleep(ctx, backOff(attempt))
	}
}

// accepts reports whether any state of the store is accepted.
func (s Since) accepts() bool { return s.Revision == 0 }

var (
	errEnded      = errors.New("the store ended the watch")
	errWasSetBack = fmt.Errorf("%w, so its later states are not a continuation; accept the rollback, or start without the kept state", ErrSetBack)
	errRollback   = errors.New("the store was set back, and its older state is accepted")
)

// backOff returns how long to wait before the next attempt: between a half and the whole of
// 0.1 s, 0.2 s, 0.4 s and so on up to [maxBackOff]. The time is random: replicas should not
// return to a store all at once.
func backOff(attempt int) time.Duration {
	d := min(100*time.Millisecond<<min(attempt, 10), maxBackOff)
	return d/2 + rand.N(d/2)
}

// run yields updates and errors until the context ends or the caller stops.
func (w *storeWatch) run(ctx context.Context, yield func(*Update, error) bool) {
	silence := time.NewTimer(w.patience())
	defer silence.Stop()
	start := time.After(w.patience())
	for {
		select {
		case <-ctx.Done():
			return
		case <-start:
			if w.yielded == nil && w.kept != nil && !w.yieldKept(yield) {
				return
			}
			continue
		case result := <-w.saver.running:
			w.saved(result)
			continue
		case <-silence.C:
			silence.Reset(w.patience())
			if !w.yieldError(yield, w.loss(fmt.Errorf("it has not answered for %v", w.patience()))) {
				return
			}
			continue
		case <-w.inbox.arrived:
		}
		silence.Reset(w.patience())
		all := w.collect(ctx)
		w.save(time.Now()) // what the last update had, if the reader has applied it
		if !w.handle(ctx, all, yield) {
			return
		}
	}
}

// collect returns the news. If they change something, it collects for a moment.
func (w *storeWatch) collect(ctx context.Context) []news {
	all := w.inbox.take()
	changes := slices.ContainsFunc(all, func(n news) bool { return n.page != nil && len(n.page.Objects) > 0 && !n.page.More && !n.page.Full })
	if changes {
		Sleep(ctx, cmp.Or(w.Moment, DefaultMoment)-time.Since(all[0].at))
		all = append(all, w.inbox.take()...)
	}
	return all
}

// handle yields one update for all complete states among the news, in order. It returns
// false if the caller stopped.
func (w *storeWatch) handle(ctx context.Context, all []news, yield func(*Update, error) bool) bool {
	defer w.Busy.Begin("reading " + w.String())()
	var ready *staged // the changes of the complete states
	var last *news    // the page that completed the last one
	for i := range all {
		n := &all[i]
		if n.err != nil {
			w.staged = new(staged)
			if last != nil && !w.commit(ctx, ready, last, yield) {
				return false
			}
			ready, last = nil, nil
			if errors.Is(n.err, errRollback) {
				for _, old := range w.objects.byKey {
					old.at = "" // the version may have other content now, so it is decoded again
				}
			}
			if !w.yieldError(yield, w.loss(n.err)) {
				return false
			}
			continue
		}
		if n.page.Full {
			w.staged = &staged{full: true}
		}
		w.staged.add(n.page.Objects)
		if n.page.Held != "" && !w.yieldError(yield, fmt.Errorf("%s: %w: %s", w, ErrIncomplete, n.page.Held)) {
			return false
		}
		if !n.page.More {
			ready, last = ready.then(w.staged), n
			w.staged = new(staged)
		}
	}
	if last != nil && !w.commit(ctx, ready, last, yield) {
		return false
	}
	w.objects.decode(ctx, w.staged) // pages of a list are decoded as they come
	return ctx.Err() == nil
}

// commit applies changes, which the last news completed, and yields the state.
func (w *storeWatch) commit(ctx context.Context, ready *staged, last *news, yield func(*Update, error) bool) bool {
	w.objects.decode(ctx, ready)
	if ctx.Err() != nil {
		return false
	}
	before := w.set
	w.set = w.objects.apply(ready, before, last.at)
	if w.set != before {
		w.shown = w.objects.reserved.without(w.set)
	}
	w.current, w.failure = last.at, ""
	w.saver.dirty = w.saver.dirty || w.set != before
	w.revision = last.page.Revision
	update := &Update{
		Set: w.shown, Batch: Diff(w.yielded, w.shown), Revision: w.revision, reserved: w.objects.reserved,
		Store: true, Stores: w.storeState(w.revision, last.at, false), Current: last.at, Found: last.at, Invalid: w.objects.invalid(),
	}
	if w.Keeper != nil {
		revision := w.revision
		update.Recording = &Recording{keep: func() error { w.applied.Store(int64(revision)); return nil }}
	}
	w.yielded = w.shown
	return yield(update, nil)
}

// resume loads the kept state.
func (w *storeWatch) resume(ctx context.Context) {
	if w.Keeper == nil {
		return
	}
	w.saver.keeper, w.objects.kept = w.Keeper, true
	kept, err := w.Keeper.load()
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			w.notice(fmt.Errorf("the last state of %s cannot be used: %w", w, err))
		}
		return
	}
	all := &staged{full: true}
	all.add(kept.objects)
	w.objects.decode(ctx, all)
	w.kept, w.set = kept, w.objects.apply(all, nil, kept.at)
	w.shown = w.objects.reserved.without(w.set)
	w.current = kept.at
}

// yieldKept yields the kept state, because the store has none that can be used.
func (w *storeWatch) yieldKept(yield func(*Update, error) bool) bool {
	w.yielded, w.failure = w.shown, ""
	return yield(&Update{
		Set: w.shown, Batch: Diff(nil, w.shown), reserved: w.objects.reserved, Revision: w.kept.revision, Store: true, Stores: w.storeState(w.kept.revision, w.kept.at, true), Current: w.kept.at, Found: time.Now(), Invalid: w.objects.invalid(),
		Kept: &Kept{Path: w.Keeper.Path(), At: w.kept.at},
	}, nil)
}

func (w *storeWatch) storeState(revision Revision, current time.Time, kept bool) []StoreState {
	return []StoreState{{Name: w.String(), Revision: revision, Current: current, Kept: kept}}
}

// save begins to save the state, if the reader has applied it and a save is due.
func (w *storeWatch) save(now time.Time) {
	s := &w.saver
	if w.Keeper == nil || !s.dirty || s.running != nil || now.Before(s.due) || Revision(w.applied.Load()) != w.revision {
		return
	}
	s.begin(w.state())
}

func (w *storeWatch) state() *keptState {
	return &keptState{revision: w.revision, at: w.current, objects: w.objects.inEffect()}
}

func (w *storeWatch) saved(r saveResult) {
	w.saver.end(r)
	if r.err != nil {
		w.notice(fmt.Errorf("the state of %s cannot be kept: %w", w, r.err))
	}
}

// finish saves the last state, after follow has ended.
func (w *storeWatch) finish() {
	if w.saver.running != nil {
		w.saved(<-w.saver.running)
	}
	if w.Keeper != nil && w.saver.dirty && w.revision > 0 && Revision(w.applied.Load()) == w.revision {
		if err := w.Keeper.save(w.state()); err != nil {
			w.notice(fmt.Errorf("the state of %s cannot be kept: %w", w, err))
		}
	}
}

func (w *storeWatch) notice(err error) {
	if w.Notice != nil {
		w.Notice(err)
	}
}

// loss returns the error of a store that cannot be read.
func (w *storeWatch) loss(err error) error {
	return &Loss{Source: w.String(), Since: w.current, Err: err}
}

// yieldError yields an error, unless the previous one has the same text.
func (w *storeWatch) yieldError(yield func(*Update, error) bool, err error) bool {
	if text := err.Error(); text != w.failure {
		w.failure = text
		return yield(nil, err)
	}
	return true
}

func (w *storeWatch) patience() time.Duration { return cmp.Or(w.Patience, DefaultPatience) }
