package relay

import (
	"time"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// Status is what the relay and its upstream do, in the JSON of SPEC 16.
type Status struct {
	Address   string `json:"address"` // of the upstream, or of the first one if none is connected
	Connected bool   `json:"connected"`
	// Age is how many seconds ago the upstream was last connected; 0 while it is.
	Age     int64 `json:"age"`
	Mode    Mode  `json:"mode"`
	Streams int64 `json:"streams"` // to the upstream
	// Subscriptions are the numbers of locators that are subscribed upstream, by type, without zeros.
	Subscriptions map[string]int `json:"questions,omitempty"`
	// Rejected are the responses of the upstream with something wrong.
	Rejected int64 `json:"rejected,omitempty"`
	// RejectedNames are names whose newest content the relay has NACKed, since more than 15 s.
	RejectedNames []RejectedName `json:"wrong,omitempty"`
	// Expired is set if nothing is served because what is held is too old.
	Expired bool `json:"expired,omitempty"`
}

// Status returns the status.
func (r *Relay) Status() Status {
	s := Status{Mode: r.options.Mode, Streams: r.sessions.Load(), Rejected: r.counters.Rejected.Load(), Subscriptions: map[string]int{}}
	s.RejectedNames, _ = r.RejectedNames()
	r.mu.Lock()
	defer r.mu.Unlock()
	s.Address, s.Connected = r.upstream.address, r.upstream.conn != nil
	if !s.Connected {
		s.Address = r.options.Upstreams[0].Address
		s.Age = max(1, int64(time.Since(r.lost)/time.Second))
	}
	s.Expired = r.isExpired()
	for t, n := range r.countSubscriptions() {
		if n > 0 {
			s.Subscriptions[wire.Type(t).String()] = n
		}
	}
	return s
}

// Subscriptions returns the number of locators that are subscribed upstream, by type.
func (r *Relay) Subscriptions() [wire.NumTypes]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.countSubscriptions()
}

func (r *Relay) countSubscriptions() (count [wire.NumTypes]int) {
	for key, n := range r.names {
		for _, sub := range n.subscriptions {
			if sub.requested {
				count[key.t]++
			}
		}
	}
	return count
}

// Ready reports whether the relay can serve: it is, or was, connected to an upstream, or has
// loaded a cache, and what it holds is not too old.
func (r *Relay) Ready() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.upstream.conn != nil || !r.isExpired() && !r.lost.Equal(r.start)
}

// NodeIDs returns the ids of the nodes that are held.
func (r *Relay) NodeIDs() (ids []string) {
	for _, key := range r.nodeKeys() {
		ids = append(ids, key.id)
	}
	return ids
}
