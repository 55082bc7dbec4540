package serve

import (
	"time"

	"github.com/meshmatch/meshmatch/core/internal/sorted"
	"github.com/meshmatch/meshmatch/core/resource"
)

// minHeld is how many dataplanes of a mesh a load may remove at once, regardless of the
// size of the mesh.
const minHeld = 10

// removals holds removals if one load removes many dataplanes (SPEC 12.1): their files may
// be missing only for a moment, such as while a volume is mounted again or a checkout is
// replaced. If the removal of a dataplane is held, its last applied version is kept. The
// rest of the load is applied at once. It is used by one goroutine.
type removals struct {
	percent float64 // of the dataplanes of a mesh that a load may remove at once
	grace   time.Duration
	until   map[resource.ID]time.Time // when each held removal is applied
}

// heldNow is the change of held removals by a call of hold.
type heldNow struct {
	begun []heldMesh
	back  int // dataplanes that came back while their removal was held
}

// heldMesh are the removals of a mesh that begin to be held.
type heldMesh struct {
	mesh  string
	n, of int // dataplanes
}

// hold returns the set to apply: the set of the files, with the dataplanes of the applied set
// whose removal is held. If no removal is held, it returns the set of the files itself.
func (r *removals) hold(applied, files *resource.Set, now time.Time) (*resource.Set, heldNow) {
	if applied == nil || r.grace <= 0 {
		return files, heldNow{}
	}
	var change heldNow
	total, removed := map[string]int{}, map[string][]resource.ID{}
	var meshes []string // those that lose dataplanes, in order
	for old, next := range sorted.Join(applied.Dataplanes, files.Dataplanes, compareDataplanes) {
		if old == nil {
			continue
		}
		total[old.Mesh]++
		switch until, held := r.until[old.ID]; {
		case next != nil && held:
			delete(r.until, old.ID)
			change.back++
		case next != nil || held && now.Before(until):
		case held:
			delete(r.until, old.ID)
		default:
			if removed[old.Mesh] == nil {
				meshes = append(meshes, old.Mesh)
			}
			removed[old.Mesh] = append(removed[old.Mesh], old.ID)
		}
	}
	for _, mesh := range meshes {
		if n := len(removed[mesh]); n > minHeld && float64(n)*100 > r.percent*float64(total[mesh]) {
			change.begun = append(change.begun, heldMesh{mesh, n, total[mesh]})
			r.begin(removed[mesh], now)
		}
	}
	if len(r.until) == 0 {
		return files, change
	}
	with := *files
	with.Dataplanes = make([]*resource.Dataplane, 0, len(files.Dataplanes)+len(r.until))
	for old, next := range sorted.Join(applied.Dataplanes, files.Dataplanes, compareDataplanes) {
		if next != nil {
			with.Dataplanes = append(with.Dataplanes, next)
		} else if _, held := r.until[old.ID]; held {
			with.Dataplanes = append(with.Dataplanes, old)
		}
	}
	return &with, change
}

// begin holds the removals of resources until their time is over.
func (r *removals) begin(ids []resource.ID, now time.Time) {
	if r.until == nil {
		r.until = map[resource.ID]time.Time{}
	}
	for _, id := range ids {
		r.until[id] = now.Add(r.grace)
	}
}

// next returns when the next held removal is applied, or false if none is held.
func (r *removals) next() (time.Time, bool) {
	var next time.Time
	for _, until := range r.until {
		if next.IsZero() || until.Before(next) {
			next = until
		}
	}
	return next, !next.IsZero()
}

func compareDataplanes(a, b *resource.Dataplane) int { return a.ID.Compare(b.ID) }
