package serve

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/sds"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// publication is what is served from one moment on. It implements [server.State].
type publication struct {
	view       *core.View
	set        *resource.Set // nil before the first load
	state      *snapshot.State
	secrets    *sds.Secrets // nil: keys are not served
	snapshots  *snapshotCache
	superseded chan struct{} // closed when there is a newer publication
	// bySPIFFEID evaluates the identities of all dataplanes at the first call.
	bySPIFFEID func() map[string][]*resource.Dataplane
}

// publisher publishes. It implements [server.Source].
type publisher struct{ current atomic.Pointer[publication] }

// Current implements [server.Source].
func (p *publisher) Current() (server.State, <-chan struct{}) {
	current := p.current.Load()
	return current, current.superseded
}

// publish replaces the current publication. It is called by one goroutine.
func (p *publisher) publish(next *publication) {
	next.superseded = make(chan struct{})
	next.bySPIFFEID = sync.OnceValue(func() map[string][]*resource.Dataplane { return bySPIFFEID(next.view) })
	if before := p.current.Swap(next); before != nil {
		close(before.superseded)
	}
}

// dataplane returns the dataplane with a KRI, or nil.
func (p *publication) dataplane(kri string) *resource.Dataplane {
	id, zone, ok := resource.ParseDataplaneKRI(kri)
	if !ok {
		return nil
	}
	d := p.view.Dataplane(id)
	if d == nil || d.Zone() != zone {
		return nil
	}
	return d
}

// Node implements [server.State].
func (p *publication) Node(node *server.Node) (*server.Snapshot, bool) {
	d := p.dataplane(node.ID)
	if d == nil {
		return nil, false
	}
	grpc := isGRPC(node.UserAgent)
	var secrets []*wire.Resource
	if p.secrets != nil {
		secrets, _ = p.secrets.Of(d) // the error is one of the problems of the secrets, or a warning of the snapshot
	}
	return p.snapshots.get(snapshotKey{d.ID, grpc}, p.state.Snapshot(d, grpc), secrets), true
}

// Locate implements [server.State].
func (p *publication) Locate(t wire.Type, name string, parameters map[string]string) (wire.Variant, bool) {
	located, ok := p.state.Locate(t, name, parameters)
	return wire.Variant{Resource: located.Resource, Constraints: located.Constraints}, ok
}

// isGRPC reports whether a user agent is gRPC (SPEC 11.4).
func isGRPC(userAgent string) bool { return len(userAgent) >= 4 && userAgent[:4] == "gRPC" }

// snapshotCache keeps what was served last to each dataplane, so that publications
// return the same pointer while nothing changed for it.
type snapshotCache struct {
	known sync.Map // *servedSnapshot by snapshotKey
	// grpc gets a value when a dataplane connects that is gRPC and was not before.
	grpc chan struct{}
}

type snapshotKey struct {
	dataplane resource.ID
	grpc      bool
}

// servedSnapshot is a snapshot in the form of package server, and what it was made
// from.
type servedSnapshot struct {
	built   *snapshot.Snapshot
	secrets []*wire.Resource
	server.Snapshot
}

func (c *snapshotCache) get(key snapshotKey, built *snapshot.Snapshot, secrets []*wire.Resource) *server.Snapshot {
	if known, ok := c.known.Load(key); ok {
		if s := known.(*servedSnapshot); s.built == built && slices.Equal(s.secrets, secrets) {
			return &s.Snapshot
		}
	}
	s := &servedSnapshot{built: built, secrets: secrets}
	for t := range wire.Type(wire.NumTypes) {
		s.Snapshot[t].Listed = built.Resources(t)
	}
	s.Snapshot[wire.ListenerType].Named = built.API()
	if len(secrets) > 0 {
		s.Snapshot[wire.SecretType].Listed = secrets // a snapshot has no others if the server signs
	}
	if _, known := c.known.Swap(key, s); !known && key.grpc {
		select {
		case c.grpc <- struct{}{}:
		default: // there is one already
		}
	}
	return &s.Snapshot
}

// grpcNodes returns the dataplanes of a view that connected as gRPC.
func (c *snapshotCache) grpcNodes(view *core.View) (list []*resource.Dataplane) {
	c.known.Range(func(key, _ any) bool {
		if key := key.(snapshotKey); key.grpc {
			if d := view.Dataplane(key.dataplane); d != nil {
				list = append(list, d)
			}
		}
		return true
	})
	return list
}

// forget removes what was served to dataplanes that no longer exist.
func (c *snapshotCache) forget(view *core.View) {
	c.known.Range(func(key, _ any) bool {
		if view.Dataplane(key.(snapshotKey).dataplane) == nil {
			c.known.Delete(key)
		}
		return true
	})
}
