package server

import (
	"sync/atomic"
	"time"

	"github.com/meshmatch/meshmatch/core/xds"
)

// Counters are what the server counts (SPEC 12.5). They may be read at any time.
type Counters struct {
	Streams       [numProtocols]atomic.Int64 // open now, by protocol: see ProtocolNames
	Subscriptions [xds.NumTypes]atomic.Int64 // names and locators now
	Pushes        [xds.NumTypes]atomic.Int64 // responses
	PushBytes     [xds.NumTypes]atomic.Int64
	NACKs         [xds.NumTypes]atomic.Int64
	// PushTime is the time from when the server finds a change until a response that
	// it leads to is given to gRPC, which writes it when the client reads.
	PushTime Histogram
}

// ProtocolNames are the names of the indexes of Counters.Streams.
var ProtocolNames = [numProtocols]string{delta: delta.String(), stateOfTheWorld: stateOfTheWorld.String()}

// Counters returns the counters of the server.
func (s *Server) Counters() *Counters { return &s.counters }

// sent counts a response.
func (c *Counters) sent(r *response, now int64) {
	t, ok := xds.TypeOf(r.body.message.url)
	if !ok {
		return
	}
	c.Pushes[t].Add(1)
	c.PushBytes[t].Add(int64(r.body.size + len(r.suffix)))
	if r.since != nil {
		c.PushTime.observe(time.Duration(now - r.since.at))
	}
}

// Bounds are the upper bounds of the buckets of a Histogram.
var Bounds = [...]time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second,
}

// A Histogram counts durations.
type Histogram struct {
	buckets [len(Bounds) + 1]atomic.Uint64
	sum     atomic.Int64
}

func (h *Histogram) observe(d time.Duration) {
	i := 0
	for i < len(Bounds) && d > Bounds[i] {
		i++
	}
	h.buckets[i].Add(1)
	h.sum.Add(int64(d))
}

// Read returns the number of durations up to each of Bounds, their number and their
// sum. Durations that are observed meanwhile may be in some of these only.
func (h *Histogram) Read() (upTo [len(Bounds)]uint64, count uint64, sum time.Duration) {
	for i := range h.buckets {
		count += h.buckets[i].Load()
		if i < len(upTo) {
			upTo[i] = count
		}
	}
	return upTo, count, time.Duration(h.sum.Load())
}
