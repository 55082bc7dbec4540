package source

import (
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
	// Quiet is how long no change must be reported before files are read, so that
	// files that are written together are read together; 0 means [DefaultQuiet].
	// Changes that do not cease are read after ten times as long.
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

func (f *Files) quiet() time.Duration {
	if f.Quiet > 0 {
		return f.Quiet
	}
	return DefaultQuiet
}

func (f *Files) rescan() time.Duration {
	if f.Rescan > 0 {
		return f.Rescan
	}
	return DefaultRescan
}

// watch is the state of one call of [Files.Watch].
type watch struct {
	*Files
	loader   resource.Loader
	notifier *notifier
	scan     *scan         // before the last load
	good     *resource.Set // the last good load; nil: none
	failed   bool          // the last load
}

// attempts is how often files that change while they are loaded are loaded.
const attempts = 5

// load loads the files and returns what Watch yields; nil and nil if nothing
// changed.
func (w *watch) load(ctx context.Context) (*Update, error) {
	found := time.Now()
	var set *resource.Set
	var err error
	w.scan = newScan(w.Paths)
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
		w.failed = true
		return nil, err
	}
	batch := Diff(w.good, set)
	if w.good != nil && !w.failed && isEmpty(&batch) {
		return nil, nil
	}
	w.good, w.failed = set, false
	return &Update{Set: set, Batch: batch, Found: found}, nil
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
			w.settle(ctx)
		case <-ticker.C:
		}
		if ctx.Err() != nil {
			return
		}
		if now := newScan(w.Paths); w.scan.recent() || !now.equal(w.scan) {
			return
		}
	}
}

// settle returns when no change has been reported for a while.
func (w *watch) settle(ctx context.Context) {
	quiet := time.NewTimer(w.quiet())
	defer quiet.Stop()
	latest := time.NewTimer(10 * w.quiet())
	defer latest.Stop()
	for {
		select {
		case <-w.notifier.changed:
			quiet.Reset(w.quiet())
		case <-quiet.C:
			return
		case <-latest.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// sleep reports whether the time passed before the context ended.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
