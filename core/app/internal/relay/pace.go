package relay

import "time"

// nodePace is the longest time between two States for each node, while responses come all the time.
// At each State the server visits all of its streams. If each response of 10,000 nodes had a State
// of its own, there would be 100,000,000 visits.
const nodePace = 100 * time.Microsecond

// minPace is less than what is worth a timer: so few nodes have a State for each response.
const minPace = 2 * time.Millisecond

// A pace decides when responses of the upstream become a State. The first response becomes one at
// once. For those that follow in a row, the next State waits a quarter of the time that the row has
// taken. The longest wait is nodePace for each node. So a row of
// responses is seen a quarter later, in few States.
type pace struct {
	begin, last time.Time // of the row
	published   time.Time
	waiting     bool // for a timer
}

// publishSoon is publish at the pace of responses. It is called with r.mu.
func (r *Relay) publishSoon() {
	longest := nodePace * time.Duration(len(r.nodes))
	if longest < minPace {
		r.publish()
		return
	}
	p, now := &r.pace, time.Now()
	if now.Sub(p.last) > longest/4 {
		p.begin = now
	}
	p.last = now
	if p.waiting {
		return
	}
	if wait := min(longest, now.Sub(p.begin)/4) - now.Sub(p.published); wait > 0 {
		p.waiting = true
		time.AfterFunc(wait, func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			p.waiting, p.published = false, time.Now()
			r.publish()
		})
		return
	}
	p.published = now
	r.publish()
}
