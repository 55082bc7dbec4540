package serve

import (
	"sync"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
)

// lastGood has the last served snapshot of each dataplane. It is served instead of a new
// snapshot that is refused (SPEC 11.5). It is safe for concurrent use.
type lastGood struct {
	served sync.Map // *snapshot.Snapshot by goodKey
	drains *drainLog
}

// goodKey identifies what was served: another release of Envoy may not support what one
// was served (SPEC 18.3).
type goodKey struct {
	dataplane resource.ID
	client    xds.Client
}

// lastGoodFor returns a new snapshot, or the last served one if the new one is refused. It returns
// nil if there is neither. If the new one replaces or removes listeners of the last one, it
// counts them; causes is the one of the publication.
func (l *lastGood) lastGoodFor(d *resource.Dataplane, client xds.Client, built *snapshot.Snapshot, causes *snapshot.Causes) *snapshot.Snapshot {
	key := goodKey{d.ID, client}
	known, _ := l.served.Load(key)
	served, _ := known.(*snapshot.Snapshot)
	if built.Refused() != nil {
		return served
	}
	if served != built {
		before, _ := l.served.Swap(key, built)
		if served, _ = before.(*snapshot.Snapshot); served != nil && served != built { // else another stream was first
			l.drains.add(causes.Drains(served, built))
		}
	}
	return built
}

// forget removes the dataplanes that a commit removed.
func (l *lastGood) forget(commit core.Commit) {
	for before, after := range core.EditedDataplanes(commit.Before, commit.After) {
		if after == nil {
			for _, client := range xds.Envoys() {
				l.served.Delete(goodKey{before.ID, client})
			}
		}
	}
}
