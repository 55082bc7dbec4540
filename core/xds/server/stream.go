package server

import (
	"sync"
	"sync/atomic"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A stream is one stream of a client.
//
// Two goroutines may work on it: the handler, which receives requests and sends what
// they lead to, and one that a pass starts to send what a change leads to. The flag
// sending gives the right to send to one of them at a time. The one that has it sends
// until there is nothing to send, so the other one needs not wait.
type stream struct {
	server   *Server
	id       uint32 // random, part of nonces
	protocol protocol
	client   Client
	since    time.Time
	conn     grpc.ServerStream
	ender    ender

	// settled is the last generation of which the client has accepted everything, 0
	// if there is none. It is written under the lock.
	settled atomic.Uint64

	index   int // in the shard
	mu      sync.Mutex
	sending bool
	closed  bool           // the handler is about to return: nothing more is sent
	senders sync.WaitGroup // those that have the right to send
	timer   *time.Timer    // calls poke when something has waited long enough

	generation *generation
	responses  uint32
	node       Node
	hasNode    bool
	snapshot   *Snapshot // nil if there is no dataplane
	denied     bool      // the client may not have it
	known      bool      // there was a dataplane, or a variant for the parameters of the node
	left       bool      // leaveWaiting has found that it is known
	logged     bool      // that there is none
	warned     bool      // that the client lacks a type
	watches    [wire.NumTypes]*watch
	immediate  []*response // answers for types that are not served
}

// setNode takes the node of the first request that has one (SPEC 12.3).
func (s *stream) setNode(node *corev3.Node) {
	if node == nil || s.hasNode {
		return
	}
	s.hasNode = true
	s.node.ID = node.GetId()
	s.node.UserAgent = intern(node.GetUserAgentName())
	if p := s.server.options.Parameters; p != nil {
		s.node.Parameters = p(node.GetMetadata())
	}
	if s.node.ID != "" {
		s.server.nodes.add(s)
	}
	s.generation = nil
}

// advance moves the stream to the newest generation.
func (s *stream) advance() {
	g := s.server.current.Load()
	if s.generation == g {
		return
	}
	changed := s.generation != nil
	s.generation = g
	before := s.snapshot
	s.resolve()
	for _, w := range s.watches {
		if w == nil {
			continue
		}
		if s.snapshot != before && !s.snapshot.sameResources(before, w.t) || len(s.node.Parameters) > 0 {
			s.rewant(w)
		}
		s.relocate(w)
		if changed && !w.examined && w.changed == nil {
			w.changed = g
		}
	}
}

// leaveWaiting is called after advance. When the node has become known, what the
// client holds and shall not hold can be removed.
func (s *stream) leaveWaiting() {
	if !s.known || s.left {
		return
	}
	s.left = true
	for _, w := range s.watches {
		if w == nil {
			continue
		}
		w.touch()
		if version := w.waits; version != "" {
			w.waits = ""
			s.resumeState(w, version)
		}
	}
}

// sameResources reports whether two snapshots share the resources of a type. Either
// may be nil.
func (s *Snapshot) sameResources(o *Snapshot, t wire.Type) bool {
	return s != nil && o != nil && identical(s[t].Listed, o[t].Listed) && identical(s[t].Named, o[t].Named)
}

// resolve finds the snapshot of the node.
func (s *stream) resolve() {
	s.snapshot, s.denied = nil, false
	if s.node.ID == "" {
		return
	}
	state := s.generation.state
	if access := s.server.options.Access; access != nil && !access.Node(state, &s.client, s.node.ID) {
		s.denied = true
	} else if snapshot, ok := state.Node(&s.node); ok {
		s.snapshot, s.known = snapshot, true
		return
	}
	if !s.logged && len(s.node.Parameters) == 0 {
		s.logged = true
		s.server.log.Warn("a node waits: "+s.failure(wildcard).text, "node", s.node.ID, "peer", s.client.Address)
	}
}

// rewant computes what a watch wants by name.
func (s *stream) rewant(w *watch) {
	before := w.want
	switch {
	case s.snapshot != nil:
		w.want = s.snapshot[w.t].selectFor(&w.sub, before)
	case len(s.node.Parameters) > 0 && !s.denied:
		w.want = s.locateNames(w)
	default:
		w.want = nil
	}
	if !identical(before, w.want) {
		w.touch()
	}
}

// locateNames returns the resources that the parameters of the node choose for the
// names of a subscription (SPEC 9.6).
func (s *stream) locateNames(w *watch) []*wire.Resource {
	var want []*wire.Resource
	for _, name := range w.sub.names {
		if v, ok, _ := s.locate(w.t, name, s.node.Parameters); ok {
			want = append(want, v.Resource)
			s.known = true
		}
	}
	return want
}

// locate returns the variant that parameters choose for the client, or whether it is
// denied.
func (s *stream) locate(t wire.Type, name string, parameters map[string]string) (v wire.Variant, ok, denied bool) {
	state := s.generation.state
	if access := s.server.options.Access; access != nil && !access.Parameters(state, &s.client, parameters) {
		return wire.Variant{}, false, true
	}
	v, ok = state.Locate(t, name, parameters)
	return v, ok, false
}

// relocate computes what a watch wants by locator.
func (s *stream) relocate(w *watch) {
	changed := false
	for i := range w.sub.locators {
		l := &w.sub.locators[i]
		v, _, denied := s.locate(w.t, l.name, l.parameters)
		if v != l.chosen || denied != l.denied {
			l.chosen, l.denied, changed = v, denied, true
		}
	}
	if changed {
		w.choose()
	}
}

// watch returns the watch of a type, and whether this is its first request.
func (s *stream) watch(t wire.Type) (w *watch, first bool) {
	if w = s.watches[t]; w != nil {
		return w, false
	}
	w = &watch{t: t, heard: s.server.now()}
	s.watches[t] = w
	return w, true
}

// resize adjusts the counter of subscriptions after a request, and checks the limit.
func (s *stream) resize(w *watch, before int) error {
	after := w.sub.size()
	s.server.counters.Subscriptions[w.t].Add(int64(after - before))
	if limit := s.server.options.MaxSubscriptions; after > limit {
		return status.Errorf(codes.ResourceExhausted, "%d names of %s are subscribed, the limit is %d", after, w.t, limit)
	}
	return nil
}

// flush sends all that can be sent. The handler calls it after each request.
func (s *stream) flush() error {
	if r := s.begin(); r != nil {
		return s.send(r)
	}
	return nil
}

// poke makes the stream send what a change, or the end of a wait, leads to, in a
// goroutine of its own: a client that does not read blocks it. It reports whether it
// started one.
func (s *stream) poke() bool {
	r := s.begin()
	if r != nil {
		go func() { _ = s.send(r) }() // the handler gets the error too
	}
	return r != nil
}

// begin returns a response and takes the right to send, or returns nil if there is
// nothing to send or another goroutine sends.
func (s *stream) begin() *response {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sending || s.closed {
		return nil
	}
	r := s.next()
	if r != nil {
		s.sending = true
		s.senders.Add(1)
	}
	return r
}

// send sends a response and those after it, and gives the right to send back.
func (s *stream) send(r *response) error {
	defer s.senders.Done()
	for {
		err := s.conn.SendMsg(r)
		s.server.countSent(r)
		s.mu.Lock()
		if err != nil {
			s.closed = true
		}
		if !s.closed {
			r = s.next()
		}
		if r == nil || s.closed {
			s.sending = false
			s.mu.Unlock()
			return err
		}
		s.mu.Unlock()
	}
}

// close ends all work on the stream and waits for it. The handler calls it last, with
// the error that it returns.
func (s *stream) close(err error) {
	s.mu.Lock()
	s.closed = true
	if s.timer != nil {
		s.timer.Stop()
	}
	for _, w := range s.watches {
		if w != nil {
			s.server.counters.Subscriptions[w.t].Add(-int64(w.sub.size()))
		}
	}
	sending := s.sending
	s.mu.Unlock()
	if sending {
		s.end(err) // the client may not read
	}
	s.senders.Wait()
}
