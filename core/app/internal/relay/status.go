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
	// Questions are the locators that the upstream is asked, by type, without zeros.
	Questions map[string]int `json:"questions,omitempty"`
	// Rejected are the responses of the upstream with something wrong.
	Rejected int64 `json:"rejected,omitempty"`
	// Wrong are names whose newest content the relay has NACKed, since more than 15 s.
	Wrong []WrongName `json:"wrong,omitempty"`
	// Expired is set if nothing is served because what is held is too old.
	Expired bool `json:"expired,omitempty"`
}

// Status returns the status.
func (r *Relay) Status() Status {
	s := Status{Mode: r.options.Mode, Streams: r.sessions.Load(), Rejected: r.counters.Rejected.Load(), Questions: map[string]int{}}
	s.Wrong, _ = r.Wrong()
	r.mu.Lock()
	defer r.mu.Unlock()
	s.Address, s.Connected = r.upstream.address, r.upstream.conn != nil
	if !s.Connected {
		s.Address = r.options.Upstreams[0].Address
		s.Age = max(1, int64(time.Since(r.lost)/time.Second))
	}
	s.Expired = r.isExpired()
	for t, n := range r.countQuestions() {
		if n > 0 {
			s.Questions[wire.Type(t).String()] = n
		}
	}
	return s
}

// Questions returns the number of locators that the upstream is asked, by type.
func (r *Relay) Questions() [wire.NumTypes]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.countQuestions()
}

func (r *Relay) countQuestions() (count [wire.NumTypes]int) {
	for key, n := range r.names {
		for _, q := range n.questions {
			if q.asked {
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
