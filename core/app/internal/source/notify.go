package source

import (
	"fmt"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// notifier is the [Notifications] of the operating system. It watches directories and
// not files, because a watch on a file ends when an editor replaces the file or a
// volume swaps a link. Without a watcher it reports nothing.
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

// run reports each event. It also reports each error, because events may be lost then.
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

// Watch implements Notifications. To the operating system, a directory that was
// replaced is a new one, so all watched directories are added again; this has no effect
// on those that are the same.
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
