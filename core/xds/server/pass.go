package server

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A pass moves all streams to the newest generation, and sends what that leads to. Its
// runners each take one stream after another. If the state is a keepingState, there are two
// rounds: the first one is for the streams whose answers it does not keep.
//
// A runner may have to wait: for a client that does not read, or for a state that computes
// a variant. The other streams do not wait with it. While no runner takes a stream, more of
// them are started, twice as many each time: if all of 20,000 clients do not read, the last
// stream has its turn after 15 stalls. A stream that is still sending is passed over by
// later passes, so each client stops at most one runner.
type pass struct {
	rounds  [][]cursor // one for each shard; the last round is for all streams
	runners atomic.Int64
	once    sync.Once
	done    chan struct{} // closed when there are no runners
}

// After a stall, more runners are started.
const stall = time.Millisecond

// After yieldAfter streams a runner yields to the handlers of these streams, because their
// memory is still in the caches of the processor.
const yieldAfter = 32

// pass makes a pass. It returns when each stream has had its turn; some runners may still
// wait then, and end by themselves.
func (s *Server) pass() {
	p := &pass{done: make(chan struct{})}
	if g := s.current.Load(); g != nil && g.keeping != nil {
		p.rounds = append(p.rounds, s.streams.cursors())
	}
	p.rounds = append(p.rounds, s.streams.cursors())
	p.start(len(s.streams.shards))
	watch := time.NewTicker(stall)
	defer watch.Stop()
	more, before := len(s.streams.shards), -1
	for {
		select {
		case <-p.done:
			return
		case <-watch.C:
		}
		left := p.left()
		switch {
		case left == 0:
			return
		case left == before:
			p.start(more)
			more *= 2
		}
		before = left
	}
}

// start starts runners, at most as many as there are streams left.
func (p *pass) start(n int) {
	n = min(n, max(1, p.left()))
	p.runners.Add(int64(n))
	for i := range n {
		go p.run(i)
	}
}

// run is a runner. It begins with one shard, and then helps with the others.
func (p *pass) run(first int) {
	visited := 0
	for round, cursors := range p.rounds {
		isLast := round == len(p.rounds)-1
		for i := range cursors {
			c := &cursors[(first+i)%len(cursors)]
			for st := c.next(); st != nil; st = c.next() {
				if isLast || st.isReached() {
					st.poke(true)
				}
				if visited++; visited%yieldAfter == 0 {
					runtime.Gosched()
				}
			}
		}
	}
	if p.runners.Add(-1) == 0 {
		p.once.Do(func() { close(p.done) })
	}
}

// left returns how many streams have not had their turn.
func (p *pass) left() (n int) {
	for _, cursors := range p.rounds {
		for i := range cursors {
			n += cursors[i].left()
		}
	}
	return n
}
