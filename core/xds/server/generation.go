package server

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// A generation is a state as the server serves it.
type generation struct {
	number uint64 // from 1 on
	state  State
	at     int64 // when it was found, see Server.now
	bodies bodyCache
}

// A follower has the channel of the state of the current generation.
type follower struct {
	mu      sync.Mutex
	changed <-chan struct{}
}

// refresh makes the newest state of the source the current generation, if it is not,
// and returns the channel that is closed when there is a newer one.
func (s *Server) refresh() <-chan struct{} {
	s.follow.mu.Lock()
	defer s.follow.mu.Unlock()
	state, changed := s.options.Source.Current()
	if changed == s.follow.changed && s.current.Load() != nil {
		return changed
	}
	next := &generation{number: 1, state: state, at: s.now()}
	if before := s.current.Load(); before != nil {
		next.number = before.number + 1
	}
	s.current.Store(next)
	s.follow.changed = changed
	return changed
}

// Run follows the source until the context ends, and then drains the server. It is
// called once.
//
// Each new state is followed by a pass over all streams. States that come during a
// pass are skipped but for the newest. After a pass there is a pause of the same
// length, at most 10 ms, so that many small changes do not take all processors.
func (s *Server) Run(ctx context.Context) {
	defer s.Drain()
	for {
		changed := s.refresh()
		begin := time.Now()
		s.pass()
		if !sleep(ctx, min(time.Since(begin), maxPause)) {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

const maxPause = 10 * time.Millisecond

// sleep waits and reports whether the context is still alive. Short pauses are left
// out.
func sleep(ctx context.Context, pause time.Duration) bool {
	if pause < 100*time.Microsecond {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// yieldAfter is how many goroutines a pass starts before it lets them run: their
// stacks are used again by the next ones.
const yieldAfter = 64

// pass moves all streams to the current generation.
func (s *Server) pass() {
	var all sync.WaitGroup
	for i := range s.streams.shards {
		all.Go(func() {
			started := 0
			s.streams.shards[i].each(func(st *stream) {
				if st.poke() {
					if started++; started%yieldAfter == 0 {
						runtime.Gosched()
					}
				}
			})
		})
	}
	all.Wait()
}
