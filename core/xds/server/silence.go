package server

import (
	"context"
	"time"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A missing ACK stops nothing for ever (SPEC 12.3). Some clients do not answer a response of a type
// that they do not need at that time. Such a flight ends after 15 s, or when the client changes
// its subscription with the nonce of an earlier response: it is late. The client is taken to hold
// what was sent, and gets what it is owed since. It is silent until it answers the last response
// of the type; a late answer is paired by its nonce like any other.

const (
	silentAfter = 15 * time.Second
	// silenceEvery is how often late flights are looked for. Streams have no timer for that.
	silenceEvery = time.Second
)

// isInFlight reports whether a response was sent, and the server waits for its answer.
func (w *watch) isInFlight() bool { return w.flight.message != nil && !w.flight.late }

// A lateFlight is a response that had no answer when the next one was sent. A NACK may still come.
type lateFlight struct {
	nonce   uint32
	message *message
}

// An acceptance is what a client held when it last answered, of a client that does not answer.
type acceptance struct {
	held     []*wire.Resource
	variants []wire.Variant
}

// endFlight makes the flight late.
func (w *watch) endFlight() {
	if w.accepted == nil {
		w.accepted = &acceptance{w.held, w.heldVariants}
	}
	w.held, w.heldVariants = w.flight.next, w.flight.nextVariants
	w.flight.late = true
	w.touch()
}

// endLateFlights ends the flights that have had no answer for long enough, and reports whether
// there are any.
func (s *stream) endLateFlights(now int64) (any bool) {
	for _, w := range s.watches {
		if w == nil || w.flight.message == nil || now < w.flight.at+int64(silentAfter) {
			continue
		}
		if !w.flight.late {
			w.endFlight()
			any = true
		}
		if w.silent == 0 {
			w.silent = w.flight.at
			any = true
		}
	}
	return any
}

// watchSilence ends late flights until the context ends. It passes over streams that are at work.
func (s *Server) watchSilence(ctx context.Context) {
	every := time.NewTicker(silenceEvery)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		now := s.now()
		for _, c := range s.streams.cursors() {
			for st := c.next(); st != nil; st = c.next() {
				if !st.mu.TryLock() {
					continue
				}
				late := st.endLateFlights(now)
				if late {
					st.poked.Store(true) // unlock sends what is owed
				}
				st.unlock()
			}
		}
	}
}

// A Silence is a type of a node that a client does not answer.
type Silence struct {
	KRI   string    `json:"kri"`
	Type  string    `json:"type"`
	Since time.Time `json:"since"` // when the first response without an answer was sent
}

// Silences returns what the clients of a node do not answer.
func (s *Server) Silences(id string) (list []Silence) {
	for _, st := range s.nodes.streamsOf(id) {
		st.mu.Lock()
		for t, w := range st.watches {
			if w != nil && w.silent != 0 {
				list = append(list, Silence{id, wire.Type(t).String(), s.timeOf(w.silent)})
			}
		}
		st.unlock()
	}
	return list
}

// timeOf returns a time of Server.now.
func (s *Server) timeOf(at int64) time.Time { return s.start.Add(time.Duration(at - 1)) }
