package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

// resume applies the input of the last good load after an error of the first load. It
// returns that error if no input is kept, or if the kept input cannot be used. The latter
// is logged (SPEC 12.1).
func (s *Server) resume(ctx context.Context, cause error) error {
	if s.keeper == nil || errors.Is(cause, ErrUnnamedSemantics) {
		return cause
	}
	set, kept, err := s.keeper.Load(ctx, s.options.Loader)
	if errors.Is(err, fs.ErrNotExist) {
		return cause
	}
	if err == nil {
		err = s.checkSemantics(set)
	}
	if err == nil {
		err = s.applyKept(ctx, cause, set, kept)
	}
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		s.options.Logger.Error("the last good input cannot be used: " + diag.OneLine(err.Error()))
		return cause
	}
	return nil
}

// applyKept applies the kept input, and logs why. The state is marked as stale before it is
// published, so a ready server never hides it.
func (s *Server) applyKept(ctx context.Context, cause error, set *resource.Set, kept time.Time) error {
	n := len(errorsOf(cause))
	why := fmt.Sprintf("the files have %s at the start; the last good input, of %s, is served from %s", diag.Count(n, "error"), kept.UTC().Format(time.RFC3339), s.keeper.Path())
	s.loads.resume(cause, kept, why)
	s.metrics.loadErrors.Set(float64(n))
	s.files, s.resync = &source.Update{Set: set}, true
	report, err := s.apply(ctx, time.Now())
	s.resync = true // the batch of the next load does not begin with this set
	s.logErrors(cause)
	if err == nil {
		s.options.Logger.Error(why + "; it is replaced when the files load")
		report()
	}
	return err
}

// keepsDataplanes reports whether the kept input has dataplanes.
func (s *Server) keepsDataplanes(ctx context.Context) bool {
	if s.keeper == nil {
		return false
	}
	set, _, err := s.keeper.Load(ctx, s.options.Loader)
	return err == nil && len(set.Dataplanes) > 0
}
