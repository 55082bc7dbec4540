package server

import (
	"context"
	"sync"
	"time"
)

// A generation is a state as the server serves it.
type generation struct {
	number uint64 // from 1 on
	state  State
	// partial is the state if it is a PartialState, variants if it is a variantState, and keeping if it is a
	// keepingState, else nil.
	partial  PartialState
	variants variantState
	keeping  keepingState
	at       int64 // when it was found, see Server.now
	bodies   bodyCache
	// superseded is closed when the source has a newer state.
	superseded <-chan struct{}
}

// refresh makes the newest state of the source the current generation, if it is not, and
// returns it.
func (s *Server) refresh() *generation {
	if g := s.current.Load(); g != nil && !g.isSuperseded() {
		return g
	}
	s.follow.Lock()
	defer s.follow.Unlock()
	before := s.current.Load()
	if before != nil && !before.isSuperseded() {
		return before
	}
	state, superseded := s.options.Source.Current()
	next := &generation{number: 1, state: state, at: s.now(), superseded: superseded}
	next.partial, _ = state.(PartialState)
	next.variants, _ = state.(variantState)
	next.keeping, _ = state.(keepingState)
	if before != nil {
		next.number = before.number + 1
	}
	s.current.Store(next)
	return next
}

// isSuperseded reports whether the source has a newer state.
func (g *generation) isSuperseded() bool {
	select {
	case <-g.superseded:
		return true
	default:
		return false
	}
}

// Run follows the source until the context ends, and then drains the server. It is
// called once.
//
// Each new state is followed by a pass over all streams. States that come during a
// pass are skipped, except the newest. After a pass there is a pause of the same
// length, at most 10 ms, so that many small changes do not take all processors.
func (s *Server) Run(ctx context.Context) {
	defer s.Drain()
	release := time.AfterFunc(s.options.Keep, func() {
		s.released.Store(true)
		s.pass()
	})
	defer release.Stop()
	var watching sync.WaitGroup
	defer watching.Wait()
	watching.Go(func() { s.watchSilence(ctx) })
	for {
		superseded := s.refresh().superseded
		begin := time.Now()
		s.pass()
		if !sleep(ctx, min(time.Since(begin), maxPause)) {
			return
		}
		select {
		case <-superseded:
		case <-ctx.Done():
			return
		}
	}
}

const maxPause = 10 * time.Millisecond

// sleep waits and reports whether the context is still alive. Short pauses are skipped.
func sleep(ctx context.Context, pause time.Duration) bool {
	if pause < 100*time.Microsecond {
		return ctx.Err() == nil
	}
	select {
	case <-time.After(pause):
		return true
	case <-ctx.Done():
		return false
	}
}
