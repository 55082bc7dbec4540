package source

import (
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// TestNotifications makes each change on the operating system, with scans so rare that
// notifications alone find it. A load may fall between two steps of a change: what
// counts is that the last of them is found, whenever that is.
func TestNotifications(t *testing.T) {
	for name, c := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDisk(t)
			c.prepare(d)
			files := Files{
				Loader: &resource.Loader{Kinds: kinds.All()}, Quiet: time.Millisecond, Rescan: 24 * time.Hour,
				Notice: func(err error) { t.Error(err) },
			}
			for _, path := range c.paths {
				files.Paths = append(files.Paths, d.path(path))
			}
			changed := false
			for state := range states(t, files.Watch(t.Context())) {
				t.Log(state)
				if !changed {
					c.change(d)
					changed = true
				}
				if state == c.after {
					return
				}
			}
			t.Errorf("the watch has ended without %q", c.after)
		})
	}
}
