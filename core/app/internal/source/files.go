package source

import (
	"cmp"
	"context"
	"iter"
	"time"

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
	// Paths are files and directories; see [resource.Loader.Load]. A path that does not
	// exist is an error until it exists. Standard input cannot be watched, because it
	// is empty at the second load.
	Paths []string
	// Quiet is how long files must not change before they are read. So no file is read
	// while it is being written, and files written together are read together; 0 means
	// [DefaultQuiet]. If changes do not stop, files are read after ten times Quiet.
	Quiet time.Duration
	// Rescan is the interval at which files are scanned without a notification; 0
	// means [DefaultRescan].
	Rescan time.Duration
	// Keeper records the content of each load; nil: it is not recorded. See
	// [Update.Recording].
	Keeper *Keeper
	// Notifications shorten the time until a change is found; nil: the operating system
	// notifies.
	Notifications Notifications
	// Busy has each load while it runs; nil: nothing does.
	Busy *Busy
	// Notice is called with problems of notifications, after which changes are
	// found by scans alone. Nil ignores them.
	Notice func(error)
}

// Notifications report that entries of directories changed. A watch finds changes
// without them too, by its scans, but later.
type Notifications interface {
	// Changed receives a value after changes.
	Changed() <-chan struct{}
	// Watch requests notifications of changes in these directories, and in no others. It
	// is called before each load.
	Watch(dirs []string)
}

// String implements [Source].
func (f *Files) String() string { return "the files" }

// Watch implements [Source]. An update is a good load that differs from the previous one.
// Its revision is the number of good loads. An error is the [diag.Errors] of a load that
// failed.
func (f *Files) Watch(ctx context.Context) iter.Seq2[*Update, error] {
	if f.Notifications != nil {
		return f.watch(ctx, f.Notifications)
	}
	return func(yield func(*Update, error) bool) {
		n := newNotifier(f.notice)
		defer n.close()
		f.watch(ctx, n)(yield)
	}
}

func (f *Files) notice(err error) {
	if f.Notice != nil {
		f.Notice(err)
	}
}

func (f *Files) quiet() time.Duration { return cmp.Or(max(f.Quiet, 0), DefaultQuiet) }

func (f *Files) rescan() time.Duration { return cmp.Or(max(f.Rescan, 0), DefaultRescan) }
