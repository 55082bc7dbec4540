package serve

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/pages"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/server"
)

// changes are the last commits, for pages (SPEC 15). They are in memory only. It is safe for
// concurrent use.
type changes struct {
	mu     sync.Mutex
	number int
	list   []pages.Commit // newest last; an element is replaced and never changed
	wake   chan struct{}  // closed when an element is replaced; nil: no reader waits
}

const (
	maxChanges   = 200
	maxResources = 50 // of a change
)

// last returns the changes, newest first.
func (c *changes) last() []pages.Commit {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := slices.Clone(c.list)
	slices.Reverse(list)
	return list
}

// changed returns a channel that is closed when a change is added or converges further.
func (c *changes) changed() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wake == nil {
		c.wake = make(chan struct{})
	}
	return c.wake
}

// add adds a change, and returns its number.
func (c *changes) add(change pages.Commit) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.number++
	change.Number = c.number
	if len(c.list) == maxChanges {
		c.list = slices.Delete(c.list, 0, 1)
	}
	c.list = append(c.list, change)
	c.notify()
	return c.number
}

// converge adds a sample to a change, if it is still in the list.
func (c *changes) converge(number int, sample pages.Sample, superseded bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.IndexFunc(c.list, func(change pages.Commit) bool { return change.Number == number })
	if at < 0 {
		return
	}
	change := c.list[at]
	change.Convergence = append(slices.Clone(change.Convergence), sample)
	change.Superseded = superseded
	c.list[at] = change
	c.notify()
}

// notify is called with the lock.
func (c *changes) notify() {
	if c.wake != nil {
		close(c.wake)
		c.wake = nil
	}
}

// record records a commit that was published, and begins to follow its convergence.
func (s *Server) record(ctx context.Context, commit core.Commit, batch core.Batch, first bool) {
	change := pages.Commit{At: time.Now().UTC(), First: first, Meshes: map[string]int{}, Resources: []pages.ChangedResource{}}
	if first {
		for _, mesh := range commit.After.Meshes() {
			change.Meshes[mesh] = len(commit.After.Dataplanes(mesh))
		}
		s.changes.add(change)
		return
	}
	var kris []string
	for _, c := range commit.Changes() {
		dataplanes := c.Dataplanes()
		change.Meshes[dataplanes[0].Mesh] += len(dataplanes)
		if c.Action == core.Left || s.options.PagesOnly {
			continue
		}
		for _, d := range dataplanes {
			kris = append(kris, d.KRI(""))
		}
	}
	change.Resources, change.More = changedResources(commit, batch)
	if len(change.Resources) == 0 && len(change.Meshes) == 0 {
		return // a file was read again that has the same content
	}
	number := s.changes.add(change)
	if !s.options.PagesOnly {
		go s.followConvergence(ctx, number, kris, s.publisher.current.Load())
	}
}

// changedResources returns the first resources that a batch changed, and the number of the
// others.
func changedResources(commit core.Commit, batch core.Batch) ([]pages.ChangedResource, int) {
	list, more := []pages.ChangedResource{}, 0
	add := func(action string, id resource.ID) {
		if len(list) == maxResources {
			more++
			return
		}
		list = append(list, pages.ChangedResource{Action: action, Kind: id.Kind, Mesh: id.Mesh, Namespace: id.Namespace, Name: id.Name})
	}
	actionOf := func(existed bool) string {
		if existed {
			return "changed"
		}
		return "added"
	}
	before, after := commit.Before, commit.After
	if set := batch.Upsert; set != nil {
		for _, m := range set.Meshes {
			add(actionOf(before.Mesh(m.Name) != nil), m.ID)
		}
		for _, p := range set.Policies {
			if old := before.Policy(p.ID); old != after.Policy(p.ID) {
				add(actionOf(old != nil), p.ID)
			}
		}
		for _, d := range set.Dataplanes {
			if old := before.Dataplane(d.ID); old != after.Dataplane(d.ID) {
				add(actionOf(old != nil), d.ID)
			}
		}
		for _, o := range set.Objects {
			id := o.Identity().ID
			if old := before.Object(id); old != after.Object(id) {
				add(actionOf(old != nil), id)
			}
		}
		for _, d := range set.Documents {
			add("changed", d.ID)
		}
	}
	for _, id := range batch.Delete {
		add("removed", id)
	}
	return list, more
}

// sampleTimes are the times, since a commit, at which convergence is measured.
var sampleTimes = []time.Duration{
	0, 10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond,
	500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute,
}

// followConvergence measures how many proxies of the given dataplanes have ACKed a
// publication, until all have, a minute has passed, or there is a newer one.
func (s *Server) followConvergence(ctx context.Context, number int, kris []string, p *publication) {
	begin := time.Now()
	kris = slices.DeleteFunc(kris, func(kri string) bool { return s.ads.NodeState(kri) == server.Absent })
	of := len(kris)
	for _, at := range sampleTimes {
		superseded, ok := s.waitUntil(ctx, begin.Add(at), &p)
		if !ok {
			return
		}
		if !superseded { // else states are about the newer publication
			kris = slices.DeleteFunc(kris, s.hasNewest)
		}
		s.changes.converge(number, pages.Sample{Milliseconds: time.Since(begin).Milliseconds(), Converged: of - len(kris), Of: of}, superseded)
		if superseded || len(kris) == 0 {
			return
		}
	}
}

// waitUntil waits until a time. It reports whether a publication with another state came
// first, and false if the context ended. A publication of the same state, with other
// secrets, takes the place of p.
func (s *Server) waitUntil(ctx context.Context, at time.Time, p **publication) (superseded, ok bool) {
	due := time.After(time.Until(at))
	for {
		select {
		case <-due:
			return false, true
		case <-(*p).superseded:
			next := s.publisher.current.Load()
			if next.state != (*p).state {
				return true, true
			}
			*p = next
		case <-ctx.Done():
			return false, false
		}
	}
}

// hasNewest reports whether the clients of a dataplane have accepted what is served, except in types
// that they do not answer.
func (s *Server) hasNewest(kri string) bool {
	state := s.ads.NodeState(kri)
	return state == server.Converged || state == server.Silent
}
