package server

import (
	"time"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// The orders of SPEC 12.3. Extensions come first: a client that loses access loses it at
// once, and a listener that changes together with its extension never runs with the old one.
var (
	additionOrder = [...]wire.Type{wire.ExtensionType, wire.ClusterType, wire.EndpointType, wire.ListenerType, wire.RouteType, wire.SecretType}
	removalOrder  = [...]wire.Type{wire.ListenerType, wire.ExtensionType, wire.RouteType, wire.ClusterType, wire.EndpointType, wire.SecretType}
)

// isFree reports whether additions of a type wait for nothing, and nothing waits for them:
// they refer to no other resource. An Envoy waits for the extensions of a new listener
// before it accepts the listener, so they must not wait for the listeners' ACK.
func isFree(t wire.Type) bool { return t == wire.SecretType || t == wire.ExtensionType }

// next returns the next response, or nil if there is nothing to send or if it has to
// wait. It is called with the lock.
//
// Additions of a type wait until the additions of earlier types are ACKed. So a route never
// names a cluster that the client does not have yet. Endpoints do not wait for the ACK of
// clusters: Envoy ACKs clusters when they are warm, and they are warm when it has their
// endpoints (warming.go). Endpoints that only a new cluster accepts do (staging.go). The first
// answer in a type does not wait: there is nothing to disturb. Removals wait until all
// additions and the removals of earlier types are ACKed. No wait is longer than Options.Wait.
func (s *stream) next() *response {
	if s.rare != nil && len(s.rare.refused) > 0 {
		return s.refusal()
	}
	s.advance()
	s.endWait()
	now := s.server.now()
	drained := s.expire(now)
	var h hold
	if r := s.nextAddition(now, &h); r != nil {
		return r
	}
	if r := s.nextRemoval(now, &h); r != nil {
		return r
	}
	if expected := s.expects(now); expected > now {
		h.waits = true
		h.tryAt(expected)
	} else {
		s.settle()
	}
	if drained > 0 {
		h.waits = true
		h.tryAt(drained)
	}
	if h.waits {
		s.wake(time.Duration(h.until - now))
	}
	return nil
}

// hold is why a stream sends nothing now.
type hold struct {
	busy  bool  // additions that others wait for are in flight
	waits bool  // something has to wait
	until int64 // the first time to try again; 0: none is known
}

// tryAt records a time to try again.
func (h *hold) tryAt(at int64) {
	if h.until == 0 || at < h.until {
		h.until = at
	}
}

// nextAddition returns the first additions that need not wait, or nil.
func (s *stream) nextAddition(now int64, h *hold) *response {
	wait := int64(s.server.options.Wait)
	for _, t := range additionOrder {
		w, free := s.watches[t], isFree(t)
		if w == nil {
			continue
		}
		if w.isInFlight() {
			if !free && now < w.flight.at+wait {
				h.busy = true
				h.tryAt(w.flight.at + wait)
			}
			continue
		}
		if t == wire.EndpointType {
			if s.stage(w, now); w.isStaged() {
				h.waits = true
				h.tryAt(w.staging.since + wait)
			}
		}
		w.examine(now, s.isKnown(), s.protocol)
		switch {
		case !w.additions:
		case h.busy && w.answered && !free && t != wire.EndpointType:
			h.waits = true
		default:
			return s.compose(w, false, now)
		}
	}
	return nil
}

// nextRemoval returns the first removals that need not wait, or nil.
func (s *stream) nextRemoval(now int64, h *hold) *response {
	wait := int64(s.server.options.Wait)
	for _, t := range removalOrder {
		w, free := s.watches[t], t == wire.SecretType
		if w == nil || w.isInFlight() || !w.removals {
			continue
		}
		if h.busy && !free && now < w.removalsSince+wait {
			h.waits = true
			h.tryAt(w.removalsSince + wait)
			continue
		}
		if r := s.compose(w, true, now); r != nil {
			return r
		}
		w.examine(now, s.isKnown(), s.protocol)
	}
	return nil
}

// wake makes the stream try again after a time.
func (s *stream) wake(after time.Duration) {
	if s.timer == nil {
		s.timer = time.AfterFunc(after, func() { s.poke(true) })
		return
	}
	s.timer.Reset(after)
}

// expects returns the time until which the client is expected to subscribe to the type that
// it lacks; 0 if it lacks none. A client with a wildcard of clusters or of listeners needs
// the other one: an Envoy subscribes listeners when it has all clusters, and has not
// converged in between. Envoy can also forget to subscribe clusters when it reconnects
// after a NACK, which is logged.
func (s *stream) expects(now int64) int64 {
	has, lacks := s.lacking()
	if has == nil || !has.sub.all {
		return 0
	}
	until := has.heard + int64(s.server.options.Wait)
	if now >= until && !s.warned {
		s.warned = true
		s.server.log.Warn("a client has subscribed all "+has.t.String()+" and no "+lacks.String(), "node", clip(s.node.ID, maxLogged), "peer", s.client.Address)
	}
	return until
}

// lacking returns the watch of clusters or of listeners if the client has only one of the
// two, and the other type.
func (s *stream) lacking() (has *watch, lacks wire.Type) {
	clusters, listeners := s.watches[wire.ClusterType], s.watches[wire.ListenerType]
	switch {
	case clusters == nil:
		return listeners, wire.ClusterType
	case listeners == nil:
		return clusters, wire.ListenerType
	}
	return nil, 0
}

// settle records that the client has accepted all of the generation, or has except in types
// that it does not answer.
func (s *stream) settle() {
	any, silent := false, false
	for _, w := range s.watches {
		switch {
		case w == nil:
			continue
		case w.silent != 0:
			silent = true
		case !w.settled():
			return
		}
		any = true
	}
	number := &s.settled
	if silent {
		number = &s.quiet
	}
	if any && number.Load() != s.generation.number {
		number.Store(s.generation.number)
		s.server.converged.wake()
	}
}
