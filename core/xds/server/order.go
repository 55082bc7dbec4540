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
// Additions of a type wait until the additions of earlier types are ACKed, so that a route
// never names a cluster that the client does not have yet. Endpoints do not wait for the
// ACK of clusters: Envoy ACKs clusters when they are warm, and they are warm when it has
// their endpoints (warming.go). Those that only a new cluster accepts do (staging.go). The
// first answer in a type does not wait: there is nothing
// to disturb. Removals wait until all additions and the removals of earlier types are
// ACKed. No wait is longer than Options.Wait.
func (s *stream) next() *response {
	if len(s.refused) > 0 {
		return s.refusal()
	}
	s.advance()
	s.leaveWaiting()
	now, wait := s.server.now(), int64(s.server.options.Wait)
	var busy, held bool // a type before waits; something has to wait
	var until int64     // when to try again
	hold := func(at int64) {
		if until == 0 || at < until {
			until = at
		}
	}
	for _, t := range additionOrder {
		w, free := s.watches[t], isFree(t)
		if w == nil {
			continue
		}
		if w.flight.message != nil {
			if !free && now < w.flight.at+wait {
				busy = true
				hold(w.flight.at + wait)
			}
			continue
		}
		if t == wire.EndpointType {
			if s.stage(w, now); w.isStaged() {
				held = true
				hold(w.staging.since + wait)
			}
		}
		w.examine(now, s.isKnown(), s.protocol)
		switch {
		case !w.additions:
		case busy && w.answered && !free && t != wire.EndpointType:
			held = true
		default:
			return s.compose(w, false, now)
		}
	}
	for _, t := range removalOrder {
		w, free := s.watches[t], t == wire.SecretType
		if w == nil || w.flight.message != nil || !w.removals {
			continue
		}
		if busy && !free && now < w.removalsSince+wait {
			held = true
			hold(w.removalsSince + wait)
			continue
		}
		if r := s.compose(w, true, now); r != nil {
			return r
		}
		w.examine(now, s.isKnown(), s.protocol)
	}
	if expected := s.expects(now); expected > now {
		held = true
		hold(expected)
	} else {
		s.settle()
	}
	if held {
		s.wake(time.Duration(until - now))
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

// settle records that the client has accepted all of the generation.
func (s *stream) settle() {
	any := false
	for _, w := range s.watches {
		if w == nil {
			continue
		}
		if !w.settled() {
			return
		}
		any = true
	}
	if any && s.settled.Load() != s.generation.number {
		s.settled.Store(s.generation.number)
		s.server.converged.wake()
	}
}
