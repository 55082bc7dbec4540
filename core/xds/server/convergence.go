package server

import (
	"context"
	"sync"
	"time"
)

// A NodeState is how far a node is with the newest state (SPEC 12.5).
type NodeState uint8

const (
	Absent    NodeState = iota // there is no stream of the node
	Pending                    // something is not sent, not ACKed or rejected
	Converged                  // all streams of the node have ACKed the newest state, in all types that they subscribe
	// Silent is Converged, except that a client does not answer responses of a type for 15 s.
	Silent
	NumNodeStates = iota
)

// String returns absent, pending, converged or silent.
func (s NodeState) String() string {
	return [...]string{"absent", "pending", "converged", "silent"}[s]
}

// NodeState returns the state of a node.
func (s *Server) NodeState(id string) NodeState {
	return s.nodeState(id, s.refresh().number)
}

// nodeState returns the state of a node with respect to a generation or a later one.
func (s *Server) nodeState(id string, number uint64) NodeState {
	sh := s.nodes.shard(id)
	sh.mu.RLock()
	defer sh.mu.RUnlock()
	streams := sh.streams[id]
	if len(streams) == 0 {
		return Absent
	}
	state := Converged
	for _, st := range streams {
		switch {
		case st.settled.Load() >= number:
		case st.quiet.Load() >= number:
			state = Silent
		default:
			return Pending
		}
	}
	return state
}

// WaitConverged waits until each node has converged or is silent. The state to converge on
// is the newest one at the time of the call, or a later one. It returns how many nodes have
// converged or are silent, and the error of the context if it ended first.
func (s *Server) WaitConverged(ctx context.Context, ids []string) (int, error) {
	number := s.refresh().number
	for {
		n, woken := 0, s.converged.woken()
		for _, id := range ids {
			if state := s.nodeState(id, number); state == Converged || state == Silent {
				n++
			}
		}
		if n == len(ids) {
			return n, nil
		}
		select {
		case <-ctx.Done():
			return n, ctx.Err()
		case <-woken:
		}
		// Many streams converge at about the same time: count once for all of them.
		if !sleep(ctx, countPause) {
			continue
		}
	}
}

const countPause = 5 * time.Millisecond

// convergence wakes the callers that wait for streams to settle.
type convergence struct {
	mu   sync.Mutex
	next chan struct{} // closed by the next wake; nil: it has no waiter
}

// wake is called when a stream has settled or ended.
func (c *convergence) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next != nil {
		close(c.next)
		c.next = nil
	}
}

// woken returns a channel that the next wake closes.
func (c *convergence) woken() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		c.next = make(chan struct{})
	}
	return c.next
}
