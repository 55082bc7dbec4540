package server

import (
	"context"
)

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
