package server

import "runtime"

// A gate admits long work on at most half of the processors at a time, so that the others
// stay free for streams with little to do.
type gate chan struct{}

// Work is long if the stream has more subscriptions, or the request more bytes.
const (
	longSubscription = 1000
	longRequest      = 64 << 10
)

func newGate() gate { return make(gate, max(1, runtime.GOMAXPROCS(0)/2)) }

// enter waits for admission, and reports whether it was given before done. Each enter
// that returns true needs a leave.
func (g gate) enter(done <-chan struct{}) bool {
	select {
	case g <- struct{}{}:
		return true
	case <-done:
		return false
	}
}

func (g gate) leave() { <-g }

// yield lets work that waits go first, if there is any. It is called during work that was
// admitted.
func (g gate) yield() {
	select {
	case <-g:
		g <- struct{}{}
	default:
	}
}
