package serve

import (
	"context"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/source"
)

// slowWork is how long a load may take until it is reported (SPEC 12.5).
const slowWork = 10 * time.Second

// watchWork reports work that takes long, until the context ends. Nothing that an author
// writes may take that long; if it does, edits of others wait, and no other line shows it.
func (s *Server) watchWork(ctx context.Context) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	var reported source.Work
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		longest, any := s.busy.Longest()
		if !any || time.Since(longest.Since) < slowWork {
			if reported != (source.Work{}) {
				s.options.Logger.Warn(reported.What + " has ended")
				reported = source.Work{}
			}
			s.loads.slow(nil)
			continue
		}
		if longest != reported {
			reported = longest
			s.options.Logger.Warn(longest.What + " takes longer than " + slowWork.String() + "; still serving the previous configuration")
		}
		s.loads.slow(&Stale{longest.Since.UTC(), longest.What + " takes longer than " + slowWork.String()})
	}
}

// endTime is how long a server may compute after it was asked to end. Connections are closed
// by then.
const endTime = 4500 * time.Millisecond

// untilEnd returns what run returns. If run is still at work a moment after the context has
// ended, it returns nil: the process ends without waiting for a computation.
func untilEnd(ctx context.Context, run func(context.Context) error) error {
	result := make(chan error, 1)
	go func() { result <- run(ctx) }()
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-result:
		return err
	case <-time.After(endTime):
		return nil
	}
}
