package server

import (
	"sync/atomic"
	"time"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// Counters are what the server counts (SPEC 12.5). They may be read at any time.
type Counters struct {
	Streams       [numProtocols]atomic.Int64  // open now, by protocol: see ProtocolNames
	Subscriptions [wire.NumTypes]atomic.Int64 // names and locators now
	Pushes        [wire.NumTypes]atomic.Int64 // responses
	PushBytes     [wire.NumTypes]atomic.Int64
	NACKs         [wire.NumTypes]atomic.Int64
	Refused       atomic.Int64 // connections past a limit
	Paused        atomic.Int64 // nanoseconds in which connections were not read, see Options.MaxRate
	Unlogged      atomic.Int64 // lines of the log that were left out
}

// ProtocolNames are the names of the indexes of Counters.Streams.
var ProtocolNames = [numProtocols]string{delta: delta.String(), stateOfTheWorld: stateOfTheWorld.String()}

// Counters returns the counters of the server.
func (s *Server) Counters() *Counters { return &s.counters }

// countSent counts a response.
func (s *Server) countSent(r *response) {
	t, ok := wire.TypeOf(r.body.message.url)
	if !ok {
		return
	}
	s.counters.Pushes[t].Add(1)
	s.counters.PushBytes[t].Add(int64(r.body.size + len(r.suffix)))
	if observe := s.options.ObservePush; observe != nil && r.since != nil {
		observe(time.Duration(s.now() - r.since.at))
	}
}
