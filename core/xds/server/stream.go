package server

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/meshmatch/meshmatch/core/xds/server/internal/guard"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A stream is one stream of a client.
//
// Two goroutines may work on it: the handler, which receives requests and sends the
// answers, and the runner of a pass, which sends the results of a change. The flag
// sending gives the right to send to one of them at a time. The one that has it sends
// until there is nothing to send, so the other one need not wait.
type stream struct {
	server *Server
	client Client
	since  int64 // see Server.now
	conn   grpc.ServerStream
	ender  ender
	budget *guard.Budget
	// transport is the connection, nil if it does not have the credentials of GRPCOptions.
	transport *guard.Connection

	// settled is the last generation that the client has accepted in full, 0
	// if there is none. It is written under the lock.
	settled atomic.Uint64
	// quiet is the last generation that the client has accepted in full except in types that it
	// does not answer.
	quiet atomic.Uint64

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
	keptBy     *generation // it keeps what the node has, as isReached found; nil: not known
	node       Node
	snapshot   *wire.Snapshot // nil if there is no dataplane

	drain time.Duration // of the proxy; 0: nothing drains

	responses uint32
	protocol  protocol // never changed
	sending   bool
	closed    bool // the handler is about to return: nothing more is sent
	hasNode   bool
	denied    bool // the client may not have the snapshot
	// unresolved is set while a partial state has no answer for the node.
	unresolved bool
	known      bool // there was a dataplane, or a variant for the parameters of the node
	waitOver   bool // endWait has found that the node is known
	logged     bool // that there is no dataplane
	warned     bool // that the client lacks a type

	watches [wire.NumTypes]*watch
	rare    *rare // nil on nearly all streams
	names   int   // what the stream has charged to its budget
	bytes   int
}

// rare is what few streams have, and only for a moment. It is beside the stream because
// a change reads the others of all streams.
type rare struct {
	// resumed is the clusters that the client had when it began with clusters on this stream,
	// until it begins with endpoints (see resumes).
	resumed []*wire.Resource
	refused []refusal // requests for types that are not served
}

// uncommon returns s.rare and makes it if it is nil.
func (s *stream) uncommon() *rare {
	if s.rare == nil {
		s.rare = &rare{}
	}
	return s.rare
}

// setNode takes the node of the first request that has one (SPEC 12.3).
func (s *stream) setNode(node *corev3.Node) error {
	if node == nil || s.hasNode {
		return nil
	}
	version := versionOfNode(node)
	for _, id := range []string{node.GetId(), node.GetUserAgentName(), version} {
		if len(id) > maxIDBytes {
			return status.Errorf(codes.InvalidArgument, "an id of the node has %d bytes, the limit is %d", len(id), maxIDBytes)
		}
	}
	s.hasNode = true
	if secrets := s.server.options.Secrets; secrets != nil {
		s.node.NoSecrets = !secrets(&s.client)
	}
	s.node.ID = node.GetId()
	s.node.UserAgent, s.node.Version = intern(node.GetUserAgentName()), intern(version)
	if refuse := s.server.options.Refuse; refuse != nil {
		if err := refuse(&s.node); err != nil {
			s.server.log.Warn("a client is refused: "+err.Error(), "node", clip(s.node.ID, maxLogged), "peer", s.client.Address)
			return status.Error(codes.FailedPrecondition, err.Error())
		}
	}
	s.drain = s.drainTime(node.GetMetadata())
	if p := s.server.options.Parameters; p != nil {
		s.node.Parameters = p(node.GetMetadata())
		for key, value := range s.node.Parameters {
			if len(value) > maxIDBytes {
				return status.Errorf(codes.InvalidArgument, "the parameter %s of the node has %d bytes, the limit is %d", key, len(value), maxIDBytes)
			}
		}
		s.located.Store(len(s.node.Parameters) > 0)
	}
	if speaksFor := s.server.options.SpeaksFor; speaksFor != nil && s.server.isRelay(s.client.peer()) {
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
	s.generation, s.keptBy = nil, nil // what was found was about no node
	return nil
}

// versionOfNode returns the version that a node states, "" if it states none: Envoy states
// user_agent_build_version, and gRPC user_agent_version.
func versionOfNode(node *corev3.Node) string {
	if b := node.GetUserAgentBuildVersion(); b.GetVersion() != nil {
		v := b.GetVersion()
		text := fmt.Sprintf("%d.%d.%d", v.GetMajorNumber(), v.GetMinorNumber(), v.GetPatch())
		if label := b.GetMetadata().GetFields()["build.label"].GetStringValue(); label != "" {
			text += "-" + label // such as "dev": a build on the way to the release
		}
		return text
	}
	return node.GetUserAgentVersion()
}

// advance moves the stream to the newest generation.
func (s *stream) advance() {
	g := s.server.current.Load()
	if s.generation == g {
		return
	}
	earlier := s.generation
	s.generation = g
	reached := s.reachSince(earlier)
	before := s.snapshot
	kept := s.resolve(earlier)
	s.keptBy = nil
	for _, w := range s.watches {
		if w == nil {
			continue
		}
		partial := w.isPartial() && (!kept || w.unknown.locators > 0)
		if w.kept != nil || !kept && (s.snapshot != before && !sameResources(s.snapshot, before, w.t) || len(s.node.Parameters) > 0 || partial) {
			s.rewant(w)
		}
		s.relocate(w, reached)
		if partial {
			s.learnMore(w)
		}
		if earlier != nil && !w.examined && w.changed == nil {
			w.changed = g
		}
	}
}

// endWait is called after advance. When the node has become known, what the
// client holds and should not hold can be removed, and names that waited are answered.
func (s *stream) endWait() {
	if !s.isKnown() || s.waitOver {
		return
	}
	s.waitOver = true
	for _, w := range s.watches {
		if w == nil {
			continue
		}
		w.touch()
		if s.mayKeep(w.t) {
			s.rewant(w)
		}
		// What is wanted now may be gone before it is sent, and the client may have it from an earlier stream.
		waited := slices.DeleteFunc(slices.Clone(w.sub.names), func(name string) bool { return find(w.held, name) != nil })
		if w.answered && len(waited) > 0 {
			w.owe(waited)
		}
		if w.answered && w.sub.all && s.protocol == delta {
			w.owed.answer = true // even if there is nothing: until then it has an error
		}
		w.waits = false
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

// resolve finds the snapshot of the node, after an earlier generation, which may be nil. It reports
// whether the state keeps what the earlier one had for the node.
func (s *stream) resolve(earlier *generation) (kept bool) {
	before, partial := s.snapshot, s.generation.partial
	switch {
	case s.node.ID == "":
		s.snapshot, s.denied = nil, false
		return false
	case partial != nil && s.keeps(earlier):
		return true
	case partial != nil:
		s.resolvePartly(partial)
		return false
	}
	s.snapshot, s.denied = nil, false
	state := s.generation.state
	if access := s.server.options.Access; access != nil && !access.Node(state, &s.client, s.node.ID) {
		s.denied = true
	} else if before != nil && s.keeps(earlier) {
		s.snapshot = before
		return true
	} else if gate := s.server.gateOf(state, &s.node); gate.enter(s.conn.Context().Done()) {
		snapshot, ok := state.Node(&s.node)
		gate.leave()
		if ok {
			s.snapshot, s.known = snapshot, true
			return false
		}
	} else {
		return false // the client has gone
	}
	if !s.logged && len(s.node.Parameters) == 0 {
		s.logged = true
		s.server.log.Warn("a node waits: "+s.failure(wildcard).text, "node", clip(s.node.ID, maxLogged), "peer", s.client.Address)
	}
	return false
}

// isReached reports that the newest state may have something else for the node than what it has.
// It is false for a stream that is busy, and for one without an earlier state.
func (s *stream) isReached() bool {
	if !s.mu.TryLock() {
		return false
	}
	defer s.unlock()
	g := s.server.current.Load()
	if s.generation == nil || s.generation == g || g.keeping == nil || s.closed {
		return false
	}
	if g.keeping.Keeps(&s.node, s.generation.state) {
		s.keptBy = g
		return false
	}
	return true
}

// keeps reports whether the state has what the one of an earlier generation had for the node.
func (s *stream) keeps(earlier *generation) bool {
	keeping := s.generation.keeping
	return s.keptBy == s.generation || keeping != nil && earlier != nil && keeping.Keeps(&s.node, earlier.state)
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
	w.want = s.withKept(w, w.want)
	if !identical(before, w.want) {
		w.touch()
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
	if s.rare != nil {
		for i := range s.rare.refused {
			bytes += s.rare.refused[i].bytes()
		}
	}
	s.long.Store(names > longSubscription || bytes > longRequest)
	err := s.budget.Use(names-s.names, bytes-s.bytes)
	s.names, s.bytes = names, bytes
	return err
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
	_ = s.budget.Use(-s.names, -s.bytes) // less is no error
	s.names, s.bytes = 0, 0
}
