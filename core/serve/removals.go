package serve

import (
	"time"

	"github.com/meshmatch/meshmatch/core/internal/sorted"
	"github.com/meshmatch/meshmatch/core/resource"
)

// minHeld is how many dataplanes of a mesh a load may remove at once, regardless of the
// size of the mesh.
const minHeld = 10

// removals holds the removal of many dataplanes by one load (SPEC 12.1): the files may
// only be away for a moment, as when a volume is mounted again or a checkout is replaced.
// A dataplane whose removal is held stays as it was last applied; all else of a load is
// applied at once. It is used by one goroutine.
type removals struct {
	percent float64 // of the dataplanes of a mesh that a load may remove at once
	grace   time.Duration
	until   map[resource.ID]time.Time // when each removal that is held is applied
}

// heldNow is what a call of hold changed.
type heldNow struct {
	begun []heldMesh
	back  int // dataplanes whose removal was held, and that the files have again
}

// heldMesh are removals of a mesh that are held from now on.
type heldMesh struct {
	mesh  string
	n, of int // dataplanes
}

// hold returns the set to apply in place of the files' set: with the dataplanes of the
// applied set whose removal is held. It is the set of the files if there are none.
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

// begin holds removals from now on.
func (r *removals) begin(ids []resource.ID, now time.Time) {
	if r.until == nil {
		r.until = map[resource.ID]time.Time{}
	}
	for _, id := range ids {
		r.until[id] = now.Add(r.grace)
	}
}

// next returns when the next removal that is held is applied, or false.
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
