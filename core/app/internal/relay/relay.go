package relay

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"github.com/meshmatch/meshmatch/core/internal/loglimit"
	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A Relay is a cache in front of an upstream. It implements [server.Source]. Make it with
// [New], make a server with it, and call [Relay.Run].
type Relay struct {
	options  Options
	log      *slog.Logger
	start    time.Time
	pool     pool
	current  atomic.Pointer[State]
	counters Counters
	// clock is the time since the start in seconds, and at least 1. It is exact enough for
	// evictions, and costs nothing to read.
	clock    atomic.Int64
	sessions atomic.Int64 // open now

	mu       sync.Mutex // a State and its streams wait for it: nothing long is done with it
	names    map[nameKey]*name
	nodes    map[nodeKey]*node
	grants   map[grantKey]*grant
	refusals map[string]*refusals // by identity
	locators map[capability.Client]*locators
	// spare is a session without subscriptions, so that an upstream that refuses streams is found
	// before a client comes. The first client takes it. Nil: there is none.
	spare      *locators
	subscribed int // subscriptions that are not in a queue, at most maxSubscriptions
	// maxSubscriptions is the constant, except in tests.
	maxSubscriptions int
	edit             edits // of the next State
	edited           bool
	pace             pace
	lastResponse     int64 // as clock
	upstream         attached
	slowPings        map[string]bool // addresses of upstreams that have refused pings
	lost             time.Time       // when the upstream was lost, or the time of what was loaded

	saver saver
}

// attached is the upstream that is used. The zero value is none.
type attached struct {
	// ctx ends with the relay, and connected with the connection. A stream has ctx, so that it
	// ends with the error of the connection.
	ctx, connected context.Context
	conn           *grpc.ClientConn
	address        string
	running        *sync.WaitGroup
	// refused counts streams that the upstream has refused, since its last response.
	refused *atomic.Int64
}

// Counters count what the relay exchanges with its upstream. They may be read at any time.
type Counters struct {
	Requests   atomic.Int64
	Responses  atomic.Int64
	Bytes      atomic.Int64 // of responses
	Subscribed atomic.Int64 // names and locators in requests
	Rejected   atomic.Int64 // responses with something wrong
	Unlogged   atomic.Int64 // lines of the log that were left out
}

// Counters returns the counters.
func (r *Relay) Counters() *Counters { return &r.counters }

// New returns a relay. With Options.State it loads what an earlier one kept.
func New(options Options) (*Relay, error) {
	if err := options.setDefaults(); err != nil {
		return nil, err
	}
	r := &Relay{
		options: options, start: time.Now(),
		names: map[nameKey]*name{}, nodes: map[nodeKey]*node{}, grants: map[grantKey]*grant{},
		locators: map[capability.Client]*locators{}, slowPings: map[string]bool{}, refusals: map[string]*refusals{}, maxSubscriptions: maxSubscriptions,
	}
	r.log = loglimit.New(options.Logger, &r.counters.Unlogged)
	r.lost = r.start
	r.clock.Store(1)
	first := &State{relay: r, superseded: make(chan struct{})}
	r.current.Store(first)
	r.edit = first.edit()
	if options.State != "" {
		r.load()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.edited = true
	r.publish()
	return r, nil
}

// Current implements server.Source.
func (r *Relay) Current() (server.State, <-chan struct{}) {
	s := r.current.Load()
	return s, s.superseded
}

// State returns the newest state.
func (r *Relay) State() *State { return r.current.Load() }

// publish makes the edits the newest State, if there are any. It is called with r.mu.
func (r *Relay) publish() {
	expired := r.isExpired()
	before := r.current.Load()
	if !r.edited && expired == before.expired {
		return
	}
	next := &State{
		relay: r, names: r.edit.names.done(), nodes: r.edit.nodes.done(), grants: r.edit.grants.done(),
		expired: expired, superseded: make(chan struct{}),
	}
	r.edit, r.edited = next.edit(), false
	r.current.Store(next)
	close(before.superseded)
}

// isExpired reports whether what is held is too old.
func (r *Relay) isExpired() bool {
	return r.options.MaxAge > 0 && r.upstream.conn == nil && time.Since(r.lost) > r.options.MaxAge
}

// Run follows the upstream until the context ends. The server is the one that serves the
// relay. It is called once.
func (r *Relay) Run(ctx context.Context, s *server.Server) {
	var running sync.WaitGroup
	running.Go(func() { r.follow(ctx) })
	running.Go(func() { r.tick(ctx, s) })
	running.Wait()
	r.save()
}

// attach begins to use an upstream, with r.mu.
func (r *Relay) attach(u attached) {
	r.upstream = u
	if r.options.Mode == Locators {
		for _, l := range r.locators {
			r.startSession(l)
		}
		if len(r.locators) == 0 {
			r.spare = r.newLocators()
		}
	}
	for _, n := range r.nodes {
		r.startNode(n)
	}
	for _, g := range r.grants {
		r.startGrant(g)
	}
	r.publish()
}

// detach is called with r.mu when the upstream is lost.
func (r *Relay) detach() {
	r.lost = time.Now()
	r.upstream = attached{}
	r.spare = nil
	for _, l := range r.locators {
		l.session = nil
	}
	for _, n := range r.nodes {
		n.session, n.stop = nil, nil
	}
	for _, g := range r.grants {
		g.session, g.stop = nil, nil
	}
}

// startNode begins the session of a node, with r.mu, if there is an upstream.
func (r *Relay) startNode(n *node) {
	if n.stop = r.startSession(n); n.stop == nil {
		n.session = nil
	}
}

// startGrant is startNode for a grant.
func (r *Relay) startGrant(g *grant) { g.stop = r.startSession(g) }

// startSession returns the function that ends the session; nil without an upstream.
func (r *Relay) startSession(o owner) context.CancelFunc {
	u := r.upstream
	if u.conn == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(u.ctx)
	u.running.Go(func() {
		defer cancel()
		r.keepSession(ctx, u, o)
	})
	return cancel
}

// tick does every second what depends on time, until the context ends.
func (r *Relay) tick(ctx context.Context, s *server.Server) {
	every := time.NewTicker(time.Second)
	defer every.Stop()
	sweepEvery := max(1, int64(r.options.Idle/time.Second)/4)
	next := sweepEvery
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		now := int64(time.Since(r.start)/time.Second) + 1
		r.clock.Store(now)
		r.mu.Lock()
		for _, n := range r.nodes {
			n.tick(now)
		}
		if now%rejectedEvery == 0 {
			r.resubscribeRejected(now)
		}
		r.publish()
		r.mu.Unlock()
		r.releaseNodes(s, now)
		r.mu.Lock()
		crowded := r.subscribed > r.maxSubscriptions/2 // unused subscriptions are evicted soon
		r.mu.Unlock()
		switch {
		case now >= next:
			next = now + sweepEvery
			r.sweep(s, r.idle())
		case crowded && now%crowdedSweep == 0:
			r.sweep(s, min(r.idle(), crowdedIdle))
		}
		r.keep(now)
	}
}

// release is how long, in seconds, the session of a node stays after its last stream has
// ended: a client that connects again soon continues with it.
const release = 10

// releaseNodes ends the sessions of nodes without streams, and begins those of nodes whose client
// has returned. What they hold is kept until Options.Idle has passed.
func (r *Relay) releaseNodes(s *server.Server, now int64) {
	for _, key := range r.endSessions(s, now) {
		returned := false
		s.NodeSubscriptions(key.id, func(client *server.Client, node *server.Node, _ wire.Type, _ string) {
			returned = returned || r.nodeKey(client, node) == key
		})
		r.mu.Lock()
		switch n := r.nodes[key]; {
		case n == nil || n.stop != nil: // meanwhile
		case returned:
			n.used = now
			r.startNode(n)
		default: // the stream is of a client with the same id
			r.expire(key, n, now)
		}
		r.mu.Unlock()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.publish()
}

// endSessions ends the sessions of nodes without streams, and returns the nodes without a session
// that may have a stream again.
func (r *Relay) endSessions(s *server.Server, now int64) (returned []nodeKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, n := range r.nodes {
		switch present := s.NodeState(key.id) != server.Absent; {
		case present && n.stop == nil && r.upstream.conn != nil:
			returned = append(returned, key)
			continue
		case present:
			n.used = now
			continue
		case n.stop != nil && now-n.used > release:
			n.stop()
			n.stop, n.session = nil, nil
		}
		r.expire(key, n, now)
	}
	return returned
}

// expire forgets a node that no client has used for Options.Idle, or that has neither resources
// nor a session. It is called with r.mu.
func (r *Relay) expire(key nodeKey, n *node, now int64) {
	if now-n.used > r.idle() || n.stop == nil && n.isEmpty() {
		delete(r.nodes, key)
		r.edit.nodes.delete(key)
		r.edited = true
	}
}

func (r *Relay) idle() int64 { return int64(r.options.Idle / time.Second) }

// sweep evicts what no client has used for some seconds. It waits for streams that are at
// work, and not with r.mu.
func (r *Relay) sweep(s *server.Server, idle int64) {
	now := r.clock.Load()
	state := r.current.Load()
	s.Subscriptions(func(client *server.Client, node *server.Node, t wire.Type, name string, p server.Parameters) {
		key := nameKey{t, name, programOf(node).client()}
		if r.options.Authenticated {
			r.useGrant(newGrantKey(r.identity(client), name, p), now)
		}
		if h := state.names.get(key).choose(p.Values); h != nil {
			h.use(now)
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if n := r.names[key]; n != nil && n.subscriptions[p.Key] != nil {
			n.subscriptions[p.Key].used = now
		}
	})
	type nodeName struct {
		t    wire.Type
		name string
	}
	wanted := map[nodeKey]map[nodeName]bool{}
	for _, key := range r.nodeKeys() {
		s.NodeSubscriptions(key.id, func(client *server.Client, node *server.Node, t wire.Type, name string) {
			of := r.nodeKey(client, node)
			if wanted[of] == nil {
				wanted[of] = map[nodeName]bool{}
			}
			wanted[of][nodeName{t, name}] = true
		})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, names := range wanted {
		if n := r.nodes[key]; n != nil {
			n.keep(func(t wire.Type, name string) bool { return names[nodeName{t, name}] })
		}
	}
	for key, n := range r.names {
		if r.evict(n, now-idle) {
			r.edit.names.set(key, n.view)
			r.edited = true
		}
		if len(n.subscriptions) == 0 {
			delete(r.names, key)
			r.edit.names.delete(key)
			r.edited = true
		}
	}
	for key, g := range r.grants {
		if g.used < now-idle {
			r.countGrant(key.identity, g.verdict, -1)
			if g.stop != nil {
				g.stop()
			}
			delete(r.grants, key)
			r.edit.grants.delete(key)
			r.edited = true
		}
	}
	r.publish()
}

func (r *Relay) useGrant(key grantKey, now int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if g := r.grants[key]; g != nil {
		g.used = now
	}
}

func (r *Relay) nodeKeys() []nodeKey {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.nodes))
}
