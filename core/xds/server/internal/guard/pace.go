package guard

import (
	"sync"
	"time"
)

// A pace limits what a client makes the server do in a time (SPEC 12.3). What arrives has a
// cost in bytes: its own bytes, and more for what takes time regardless of its bytes. While a
// client has spent more than the rate in about a second, its connections are not read: what it
// sends waits in its own sockets, where it costs nothing. So a client is slowed down by its own
// requests, and no other one is.
//
// What is too much could be refused with RESOURCE_EXHAUSTED instead. That would take more time
// than to leave it unread, and an honest client would try again.
type pace struct {
	mu   sync.Mutex
	debt int // what was spent and is not paid, in bytes
	at   time.Time
}

const (
	frameCost    = 1 << 10  // of each frame
	headerFactor = 8        // of each byte of headers, which may be 40 bytes in memory
	settingCost  = 16 << 10 // of each setting: one of a window may visit all streams of the connection
	StreamCost   = 16 << 10 // of each stream that ends, whoever ends it

	// paceStep is what a connection spends until it pays. Less is not charged.
	paceStep = 64 << 10
	// maxUnread is below the time in which gRPC closes a connection that is not read. maxDebt is
	// the limit for a client with many connections, which all pay.
	maxUnread = 20 * time.Second
	maxDebt   = 60 // seconds
)

// spend subtracts from the debt what was paid since the last call, adds the cost, and returns
// how long the client has to wait.
func (p *pace) spend(cost, rate int) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.debt = min(p.left(rate)+cost, maxDebt*rate)
	p.at = time.Now()
	return min(duration(p.debt-rate, rate), maxUnread)
}

// left returns the debt now.
func (p *pace) left(rate int) int {
	paid := int(min(time.Since(p.at).Seconds(), maxDebt) * float64(rate))
	return max(0, p.debt-paid)
}

// due returns the time until the debt is paid.
func (p *pace) due(rate int) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return duration(p.left(rate), rate)
}

// duration returns how long a number of bytes takes, 0 if it is negative.
func duration(bytes, rate int) time.Duration {
	return time.Duration(float64(max(0, bytes)) / float64(rate) * float64(time.Second))
}
