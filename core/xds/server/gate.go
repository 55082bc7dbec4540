package server

import "runtime"

// A gate admits some work at a time. There are three:
//
//   - long work, on half of the processors: the others stay free for streams with little to do
//   - snapshots of nodes, on all processors
//   - snapshots that take long ([longState]), on half of the processors
//
// A state makes a snapshot at the first call for it. Without a gate, a client that opens and resets
// thousands of streams would make the server build as many snapshots at once. Waiting clients would
// get no processor time.
type gate chan struct{}

// Work is long if the stream has more subscriptions, or the request more bytes.
const (
	longSubscription = 1000
	longRequest      = 64 << 10
)

func newGate() gate { return make(gate, max(1, runtime.GOMAXPROCS(0)/2)) }

func newNodesGate() gate { return make(gate, runtime.GOMAXPROCS(0)) }

// enter waits for admission, and reports whether it was given before done. Each enter
// that returns true needs a leave.
func (g gate) enter(done <-chan struct{}) bool {
	select {
	case <-done: // select chooses at random
		return false
	default:
	}
	select {
	case g <- struct{}{}:
		return true
	case <-done:
		return false
	}
}

func (g gate) leave() { <-g }

// yield lets waiting work go first, if there is any. Admitted work calls it now and then.
func (g gate) yield() {
	select {
	case <-g:
		g <- struct{}{}
	default:
	}
}

// longState is the optional method of a [State].
type longState interface{ IsLong(node *Node) bool }

// gateOf returns the gate of the snapshot of a node.
func (s *Server) gateOf(state State, node *Node) gate {
	if l, is := state.(longState); is && l.IsLong(node) {
		return s.longNodes
	}
	return s.nodesGate
}
