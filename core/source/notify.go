package source

import (
	"fmt"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// notifier is the [Notifications] of the operating system. Directories are watched
// and not files: an editor that replaces a file, and a volume that swaps a link,
// leave nothing of the file that was watched. Without a watcher it reports
// nothing.
type notifier struct {
	events  chan struct{} // holds at most one value
	watcher *fsnotify.Watcher
	dirs    map[string]bool // that are watched, or could not be
	notice  func(error)
	running sync.WaitGroup
}

func newNotifier(notice func(error)) *notifier {
	n := &notifier{events: make(chan struct{}, 1), dirs: map[string]bool{}, notice: notice}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		notice(fmt.Errorf("changes of files are found late: %w", err))
		return n
	}
	n.watcher = watcher
	n.running.Go(n.run)
	return n
}

// run reports each event, and each error too: events may be lost then.
func (n *notifier) run() {
	for {
		var open bool
		select {
		case _, open = <-n.watcher.Events:
		case _, open = <-n.watcher.Errors:
		}
		if !open {
			return
		}
		select {
		case n.events <- struct{}{}:
		default:
		}
	}
}

// Changed implements Notifications.
func (n *notifier) Changed() <-chan struct{} { return n.events }

// Watch implements Notifications. A directory that was replaced is
// a new one for the operating system, so those that are watched are added again,
// which does nothing if they are the same.
func (n *notifier) Watch(dirs []string) {
	if n.watcher == nil {
		return
	}
	wanted := make(map[string]bool, len(dirs))
	for _, dir := range dirs {
		wanted[dir] = true
		err := n.watcher.Add(dir)
		if err != nil && !n.dirs[dir] {
			n.notice(fmt.Errorf("changes in %s are found late: %w", dir, err))
		}
	}
	for dir := range n.dirs {
		if !wanted[dir] {
			_ = n.watcher.Remove(dir) // fails if the directory is gone
		}
	}
	n.dirs = wanted
}

// close releases the watcher and waits until it has ended.
func (n *notifier) close() {
	if n.watcher != nil {
		_ = n.watcher.Close()
	}
	n.running.Wait()
}
