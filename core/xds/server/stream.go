package server

import (
	"context"
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
// they lead to, and the runner of a pass, which sends what a change leads to. The flag
// sending gives the right to send to one of them at a time. The one that has it sends
// until there is nothing to send, so the other one need not wait.
type stream struct {
	server *Server
	client Client
	since  int64 // see Server.now
	conn   grpc.ServerStream
	ender  ender
	budget *budget
	// transport is the connection, nil if it does not have the credentials of GRPCOptions.
	transport *chargingConn

	// settled is the last generation that the client has accepted in full, 0
	// if there is none. It is written under the lock.
	settled atomic.Uint64

	id    uint32 // random, part of nonces
	index int32  // in the shard
	// poked is set when something is to be done, until a goroutine begins to do it. The
	// lock is held during long work, and no pass may wait for it: the one that has the
	// lock does what was asked for when it unlocks.
	poked atomic.Bool
	// long is set while there are so many subscriptions that work on them passes the gate
	// of the server, in a goroutine of its own. queued is set while one waits there.
	// gated counts the goroutines that have passed it.
	long, queued atomic.Bool
	gated        atomic.Int32
	// located is set once the stream has locators, or parameters for its names: a state
	// may have to compute what they choose.
	located atomic.Bool

	mu      sync.Mutex     // released by unlock
	senders sync.WaitGroup // those that have the right to send
	timer   *time.Timer    // calls poke when something has waited long enough

	generation *generation
	node       Node
	snapshot   *wire.Snapshot // nil if there is no dataplane

	responses uint32
	protocol  protocol // never changed
	sending   bool
	closed    bool // the handler is about to return: nothing more is sent
	hasNode   bool
	denied    bool // the client may not have the snapshot
	// unresolved is set while a partial state knows nothing of the node.
	unresolved bool
	known      bool // there was a dataplane, or a variant for the parameters of the node
	left       bool // leaveWaiting has found that it is known
	logged     bool // that there is no dataplane
	warned     bool // that the client lacks a type

	watches [wire.NumTypes]*watch
	refused []refusal // requests for types that are not served
	names   int       // what the stream has charged to its budget
	bytes   int
}

// setNode takes the node of the first request that has one (SPEC 12.3).
func (s *stream) setNode(node *corev3.Node) error {
	if node == nil || s.hasNode {
		return nil
	}
	for _, id := range []string{node.GetId(), node.GetUserAgentName()} {
		if len(id) > maxIDBytes {
			return status.Errorf(codes.InvalidArgument, "an id of the node has %d bytes, the limit is %d", len(id), maxIDBytes)
		}
	}
	s.hasNode = true
	if secrets := s.server.options.Secrets; secrets != nil {
		s.node.NoSecrets = !secrets(&s.client)
	}
	s.node.ID = node.GetId()
	s.node.UserAgent = intern(node.GetUserAgentName())
	if p := s.server.options.Parameters; p != nil {
		s.node.Parameters = p(node.GetMetadata())
		for key, value := range s.node.Parameters {
			if len(value) > maxIDBytes {
				return status.Errorf(codes.InvalidArgument, "the parameter %s of the node has %d bytes, the limit is %d", key, len(value), maxIDBytes)
			}
		}
		s.located.Store(len(s.node.Parameters) > 0)
	}
	if speaksFor := s.server.options.SpeaksFor; speaksFor != nil && s.server.isRelay(&s.client) {
		if s.client.For = speaksFor(node.GetMetadata()); len(s.client.For) > maxIDBytes {
			return status.Errorf(codes.InvalidArgument, "the identity that a relay speaks for has %d bytes, the limit is %d", len(s.client.For), maxIDBytes)
		}
	}
	if s.server.options.KeepNodes {
		node.Extensions = nil // most of the node of an Envoy
		s.node.Message = node
	}
	if s.node.ID != "" {
		s.server.nodes.add(s)
	}
	s.generation = nil
	return nil
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
		partial := w.isPartial()
		if s.snapshot != before && !sameResources(s.snapshot, before, w.t) || len(s.node.Parameters) > 0 || partial {
			s.rewant(w)
		}
		s.relocate(w)
		if partial {
			s.learnMore(w)
		}
		if changed && !w.examined && w.changed == nil {
			w.changed = g
		}
	}
}

// leaveWaiting is called after advance. When the node has become known, what the
// client holds and should not hold can be removed.
func (s *stream) leaveWaiting() {
	if !s.isKnown() || s.left {
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

// isKnown reports whether what the client holds and should not hold is removed: there was
// a dataplane for it, or it has kept what it resumed with for long enough.
func (s *stream) isKnown() bool { return s.known || s.server.released.Load() }

// sameResources reports whether two snapshots share the resources of a type. Either
// may be nil.
func sameResources(s, o *wire.Snapshot, t wire.Type) bool {
	return s != nil && o != nil && identical(s[t].Listed, o[t].Listed) && identical(s[t].Named, o[t].Named)
}

// resolve finds the snapshot of the node.
func (s *stream) resolve() {
	s.snapshot, s.denied = nil, false
	if s.node.ID == "" {
		return
	}
	if partial := s.generation.partial; partial != nil {
		s.resolvePartly(partial)
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
		s.server.log.Warn("a node waits: "+s.failure(wildcard).text, "node", clip(s.node.ID, maxLogged), "peer", s.client.Address)
	}
}

// rewant computes what a watch wants by name.
func (s *stream) rewant(w *watch) {
	before := w.want
	switch {
	case s.generation.partial != nil:
		w.want = s.wantPartly(s.generation.partial, w)
	case s.snapshot != nil:
		w.want = selectFor(&s.snapshot[w.t], &w.sub, before)
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
	access := s.server.options.Access
	if access != nil && !access.Parameters(s.generation.state, &s.client, s.node.Parameters) {
		return nil
	}
	var want []*wire.Resource
	for _, name := range w.sub.names {
		if v, ok := s.generation.state.Locate(w.t, name, s.node.Parameters); ok {
			want = append(want, v.Resource)
			s.known = true
		}
	}
	return want
}

// locate returns the variant that a locator chooses for the client.
func (s *stream) locate(t wire.Type, l *locator) (wire.Variant, Verdict) {
	state, p := s.generation.state, l.parameters
	if partial := s.generation.partial; partial != nil {
		return partial.Answer(&s.client, t, l.name, Parameters{p.values, p.key})
	}
	if access := s.server.options.Access; access != nil {
		if p.asked != s.generation.number {
			p.asked, p.allowed = s.generation.number, access.Parameters(state, &s.client, p.values)
		}
		if !p.allowed {
			return wire.Variant{}, Denied
		}
	}
	v, ok := state.Locate(t, l.name, p.values)
	if !ok {
		return wire.Variant{}, Missing
	}
	return v, Found
}

// After yieldLocators locators, other long work goes first. A state may have to compute
// each of them.
const yieldLocators = 64

// relocate computes what a watch wants by locator.
func (s *stream) relocate(w *watch) {
	changed, unknown := false, 0
	for i := range w.sub.locators {
		if i%yieldLocators == yieldLocators-1 {
			if s.conn.Context().Err() != nil {
				return // the client has gone
			}
			if s.gated.Load() > 0 {
				s.server.gate.yield()
			}
		}
		l := &w.sub.locators[i]
		v, verdict := s.locate(w.t, l)
		if verdict == Unknown {
			l.unknown = true
			unknown++
			continue
		}
		denied := verdict == Denied
		if l.unknown {
			l.unknown, l.chosen, l.denied, changed = false, v, denied, true
			w.learn(l)
		}
		if v != l.chosen || denied != l.denied {
			l.chosen, l.denied, changed = v, denied, true
		}
	}
	w.setUnknownLocators(unknown)
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

// resize charges what a watch keeps after a request, and adjusts the counter of
// subscriptions.
func (s *stream) resize(w *watch, before int) error {
	after := w.sub.size()
	s.server.counters.Subscriptions[w.t].Add(int64(after - before))
	if len(w.sub.locators) > 0 {
		s.located.Store(true)
	}
	names, bytes := 0, 0
	for _, w := range s.watches {
		if w != nil {
			names += w.sub.size()
			bytes += w.sub.bytes() + w.owedBytes() + int(w.stubs)
		}
	}
	for i := range s.refused {
		bytes += s.refused[i].bytes()
	}
	s.long.Store(names > longSubscription || bytes > longRequest)
	err := s.budget.use(names-s.names, bytes-s.bytes)
	s.names, s.bytes = names, bytes
	return err
}

// poke makes the stream send what a change, or the end of a wait, leads to. It never waits
// for the lock, nor for long work on many subscriptions. If the caller may wait, it
// does the rest itself: it may wait for the client, and for a state that computes what
// locators choose.
func (s *stream) poke(mayWait bool) {
	s.poked.Store(true)
	switch {
	case s.long.Load():
		if s.queued.Swap(true) {
			return
		}
		go func() {
			if s.pass() {
				s.queued.Store(false)
				s.catchUp(false)
				s.leave()
			}
		}()
	case !mayWait && s.located.Load():
		go s.catchUp(true)
	default:
		s.catchUp(mayWait)
	}
}

// pass waits for the gate, and reports whether it is passed: the client may go before.
func (s *stream) pass() bool {
	if !s.server.gate.enter(s.conn.Context().Done()) {
		return false
	}
	s.gated.Add(1)
	return true
}

// leave is called after pass.
func (s *stream) leave() {
	s.gated.Add(-1)
	s.server.gate.leave()
}

// catchUp does what pokes have asked for, unless another goroutine has the lock: that
// one does it. What is to be sent is sent here, if the caller may wait for the client, or
// else by a goroutine.
func (s *stream) catchUp(mayWait bool) {
	for s.poked.Load() && s.mu.TryLock() {
		s.poked.Store(false)
		r := s.take()
		s.mu.Unlock()
		switch {
		case r == nil:
		case mayWait:
			_ = s.send(r) // the handler gets the error too
		default:
			go func() { _ = s.send(r) }()
		}
	}
}

// unlock releases the lock, and does what pokes have asked for in the meantime.
func (s *stream) unlock() {
	s.mu.Unlock()
	if s.poked.Load() {
		s.poke(false)
	}
}

// acquire takes the lock, and for long work a turn. It waits for the gate with the lock,
// and never for the lock inside the gate: the one that has the lock may wait there. The
// error is that the client has gone before its turn. Each acquire needs a release.
func (s *stream) acquire(long bool) (turn bool, err error) {
	s.mu.Lock()
	if !long && !s.long.Load() {
		return false, nil
	}
	if !s.pass() {
		return false, context.Cause(s.conn.Context())
	}
	return true, nil
}

// release gives back what acquire took.
func (s *stream) release(turn bool) {
	if turn {
		s.leave()
	}
	s.unlock()
}

// take returns a response and the right to send, or returns nil if there is nothing to
// send or another goroutine sends.
func (s *stream) take() *response {
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
		if r = s.after(err); r == nil {
			return err
		}
	}
}

// after returns the response after one that was sent with an error, or nil, or returns
// nil and gives the right to send back.
func (s *stream) after(err error) (r *response) {
	turn, gone := s.acquire(false)
	if err != nil || gone != nil {
		s.closed = true
	}
	if !s.closed {
		r = s.next()
	}
	s.sending = r != nil
	s.release(turn)
	return r
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
	_ = s.budget.use(-s.names, -s.bytes) // less is no error
	s.names, s.bytes = 0, 0
}
