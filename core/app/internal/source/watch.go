package source

import (
	"context"
	"iter"
	"time"

	"github.com/meshmatch/meshmatch/core/resource"
)

// watch is the state of one call of [Files.Watch].
type watch struct {
	*Files
	loader  resource.Loader
	notify  Notifications
	scan    *scan         // of the files that are, or were last, loaded
	good    *resource.Set // the last good load; nil: none
	loads   Revision      // good ones
	failure error         // of the last load
	found   time.Time     // when the change was found that is loaded
	changed bool          // the scan differs from the scan of the last load; else it is too recent
}

// watch is [Files.Watch] with these notifications.
func (f *Files) watch(ctx context.Context, n Notifications) iter.Seq2[*Update, error] {
	return func(yield func(*Update, error) bool) {
		w := watch{Files: f, loader: *f.Loader, notify: n}
		if w.loader.Cache == nil {
			w.loader.Cache = new(resource.Cache)
		}
		w.found, w.scan = time.Now(), newScan(f.Paths)
		for more := true; more && ctx.Err() == nil; {
			update, err := w.load(ctx)
			if ctx.Err() != nil {
				return
			}
			if update != nil || err != nil {
				more = yield(update, err)
			}
			if more {
				w.wait(ctx)
			}
		}
	}
}

// attempts is how often files are loaded if they change during each load.
const attempts = 5

// load loads the files and returns what Watch yields; nil and nil if nothing
// changed.
func (w *watch) load(ctx context.Context) (*Update, error) {
	var set *resource.Set
	var err error
	var recording *Recording
	yielded := false
	defer func() {
		if !yielded {
			recording.Discard()
		}
	}()
	for attempt := range attempts {
		w.notify.Watch(w.scan.dirs)
		recording.Discard()
		recording = w.Keeper.record()
		w.loader.Read = recording.add
		end := w.Busy.Begin("reading the files")
		set, err = w.loader.Load(ctx, w.Paths...)
		end()
		after := newScan(w.Paths)
		unchanged := after.equal(w.scan)
		w.scan = after
		if unchanged || attempt == attempts-1 || !Sleep(ctx, w.quiet()) {
			break
		}
	}
	if err != nil {
		if repeated := w.failure != nil && !w.changed && err.Error() == w.failure.Error(); repeated {
			return nil, nil
		}
		w.failure = err
		return nil, err
	}
	batch := Diff(w.good, set)
	if w.good != nil && w.failure == nil && isEmpty(&batch) {
		return nil, nil
	}
	w.good, w.failure = set, nil
	w.loads++
	yielded = true
	return &Update{Set: set, Batch: batch, Revision: w.loads, Current: w.scan.at, Found: w.found, Recording: recording}, nil
}

// wait returns when the files should be loaded again, or the context has ended.
func (w *watch) wait(ctx context.Context) {
	ticker := time.NewTicker(w.rescan())
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.notify.Changed():
		case <-ticker.C:
		}
		now := newScan(w.Paths)
		w.changed = !now.equal(w.scan)
		if w.changed || w.scan.recent() {
			w.found = now.at
			w.scan = w.settled(ctx, now)
			return
		}
	}
}

// settled returns a scan that found the same as the previous scan. Otherwise a file
// that is being written, and is still empty, would delete its resources.
func (w *watch) settled(ctx context.Context, last *scan) *scan {
	for range 10 {
		if !Sleep(ctx, w.quiet()) {
			break
		}
		next := newScan(w.Paths)
		if next.equal(last) {
			return next
		}
		last = next
	}
	return last
}

// Sleep waits, and reports whether the time passed before the context ended.
func Sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
