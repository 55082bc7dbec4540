package source

import (
	"cmp"
	"context"
	"iter"
	"time"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/resource"
)

// The durations of a [Files] that has none of its own.
const (
	DefaultQuiet  = 100 * time.Millisecond
	DefaultRescan = 5 * time.Second
)

// Files are files and directory trees that are watched.
type Files struct {
	// Loader reads the files. Watch gives it a [resource.Cache] if it has none.
	Loader *resource.Loader
	// Paths are files and directories; see [resource.Loader.Load]. A path that
	// does not exist is an error until it does. Standard input cannot be watched:
	// it is empty at the second load.
	Paths []string
	// Quiet is how long files must not change before they are read, so that no file
	// is read that is being written, and files that are written together are read
	// together; 0 means [DefaultQuiet]. Changes that do not cease are read after ten
	// times as long.
	Quiet time.Duration
	// Rescan is the interval at which files are scanned without a notification; 0
	// means [DefaultRescan].
	Rescan time.Duration
	// Notice is called with problems of notifications, after which changes are
	// found by scans alone. Nil ignores them.
	Notice func(error)

	scansOnly bool // for tests
}

// Update is a good load that differs from the good load before it.
type Update struct {
	// Set contains all resources.
	Set *resource.Set
	// Batch is the difference to the good load before.
	Batch core.Batch
	// Found is when the change was found.
	Found time.Time
}

// Watch yields the first load, and then each load that differs, until the context
// ends: an update, or the error of a load that failed, a [diag.Errors]. After an
// error the next good load is yielded even if its batch is empty. The caller must
// not change what it gets.
func (f *Files) Watch(ctx context.Context) iter.Seq2[*Update, error] {
	return func(yield func(*Update, error) bool) {
		w := watch{Files: f, loader: *f.Loader}
		if w.loader.Cache == nil {
			w.loader.Cache = new(resource.Cache)
		}
		w.notifier = newNotifier(f.scansOnly, f.notice)
		defer w.notifier.close()
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

func (f *Files) notice(err error) {
	if f.Notice != nil {
		f.Notice(err)
	}
}

func (f *Files) quiet() time.Duration { return cmp.Or(max(f.Quiet, 0), DefaultQuiet) }

func (f *Files) rescan() time.Duration { return cmp.Or(max(f.Rescan, 0), DefaultRescan) }

// watch is the state of one call of [Files.Watch].
type watch struct {
	*Files
	loader   resource.Loader
	notifier *notifier
	scan     *scan         // of the files that are, or were last, loaded
	good     *resource.Set // the last good load; nil: none
	failure  error         // of the last load
	found    time.Time     // when the change was found that is loaded
	changed  bool          // the scan differs from that of the last load; else it is too recent
}

// attempts is how often files that change while they are loaded are loaded.
const attempts = 5

// load loads the files and returns what Watch yields; nil and nil if nothing
// changed.
func (w *watch) load(ctx context.Context) (*Update, error) {
	var set *resource.Set
	var err error
	for attempt := range attempts {
		w.notifier.watch(w.scan.dirs)
		set, err = w.loader.Load(w.Paths...)
		after := newScan(w.Paths)
		unchanged := after.equal(w.scan)
		w.scan = after
		if unchanged || attempt == attempts-1 || !sleep(ctx, w.quiet()) {
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
	return &Update{Set: set, Batch: batch, Found: w.found}, nil
}

// wait returns when the files should be loaded again, or the context has ended.
func (w *watch) wait(ctx context.Context) {
	ticker := time.NewTicker(w.rescan())
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.notifier.changed:
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

// settled returns a scan that found the same as the one before it: a file that is
// written is empty at first, and its resources must not be taken for deleted.
func (w *watch) settled(ctx context.Context, last *scan) *scan {
	for range 10 {
		if !sleep(ctx, w.quiet()) {
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

// sleep reports whether the time passed before the context ended.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
