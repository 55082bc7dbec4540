package serve

import (
	"sync"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
)

// lastGood has the snapshot that was served last to each dataplane. A snapshot that must
// not be served is replaced by it (SPEC 11.5). It is safe for concurrent use.
type lastGood struct {
	served sync.Map // *snapshot.Snapshot by resource.ID
}

// of returns the snapshot to serve in place of a new one, nil if there is none.
func (l *lastGood) of(d *resource.Dataplane, built *snapshot.Snapshot) *snapshot.Snapshot {
	known, _ := l.served.Load(d.ID)
	served, _ := known.(*snapshot.Snapshot)
	if built.Refused() != nil {
		return served
	}
	if served != built {
		l.served.Store(d.ID, built)
	}
	return built
}

// forget removes the dataplanes that a commit removed.
func (l *lastGood) forget(commit core.Commit) {
	for before, after := range core.EditedDataplanes(commit.Before, commit.After) {
		if after == nil {
			l.served.Delete(before.ID)
		}
	}
}
