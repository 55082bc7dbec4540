package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// loaded is a value of [source.Source.Watch].
type loaded struct {
	update *source.Update
	err    error
}

// source returns what the server follows: the files and the stores.
func (s *Server) source() source.Source {
	notice := func(err error) { s.options.Logger.Warn(diag.OneLine(err.Error())) }
	var all []source.Source
	if len(s.options.Files) > 0 || len(s.options.Stores) == 0 {
		all = append(all, &source.Files{
			Loader: s.options.Loader, Paths: s.options.Files, Keeper: s.keeper,
			Quiet: s.options.Quiet, Rescan: s.options.Rescan, Notifications: s.options.Notifications, Notice: notice, Busy: &s.busy,
		})
	}
	for _, store := range s.options.Stores {
		stored := &source.Stored{Store: store, Loader: s.options.Loader, AcceptRollback: s.options.AcceptRollback, Notice: notice, Busy: &s.busy}
		if s.options.State != "" {
			stored.Keeper = source.NewStoreKeeper(s.options.State, store.String())
		}
		all = append(all, stored)
	}
	return source.Join(all...)
}

// watch passes loads on until the context ends.
func (s *Server) watch(ctx context.Context, updates chan<- loaded) {
	if s.options.Set != nil {
		select {
		case updates <- loaded{update: &source.Update{Set: s.options.Set, Batch: source.Diff(nil, s.options.Set), Found: time.Now()}}:
		case <-ctx.Done():
		}
		return
	}
	for update, err := range s.source().Watch(ctx) {
		select {
		case updates <- loaded{update, err}:
		case <-ctx.Done():
			if update != nil {
				update.Recording.Discard()
			}
			return
		}
	}
}

// first applies the first load, or the kept input of an earlier load.
func (s *Server) first(ctx context.Context, updates <-chan loaded) error {
	for {
		select {
		case l := <-updates:
			err := l.err
			if err == nil {
				err = s.firstUpdate(ctx, l.update)
			}
			switch {
			case err == nil || ctx.Err() != nil:
				return nil
			case l.err != nil && isOfStore(err):
				s.refuse(err) // and wait for the store
			default:
				return withinLimits(s.resume(ctx, err))
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// firstUpdate applies the first load if it is good.
func (s *Server) firstUpdate(ctx context.Context, update *source.Update) error {
	if len(update.Set.Dataplanes) == 0 && !update.Store && s.keepsDataplanes(ctx) {
		update.Recording.Discard()
		s.resync = true
		return ErrNoResources
	}
	if err := s.checkSemantics(update.Set); err != nil {
		update.Recording.Discard()
		return err
	}
	return s.load(ctx, update)
}

// checkSemantics returns an error for resources of a Kuma control plane if
// Options.Semantics is nil.
func (s *Server) checkSemantics(set *resource.Set) error {
	if s.options.Semantics != nil {
		return nil
	}
	if _, because := semantics.Detect(set); because != nil {
		return fmt.Errorf("%s: %s: %w", because.Pos, because.ID, ErrUnnamedSemantics)
	}
	return nil
}

// follow applies loads and held removals, and renews certificates, until the context ends.
func (s *Server) follow(ctx context.Context, updates <-chan loaded) {
	refresh := time.NewTicker(s.options.Refresh)
	defer refresh.Stop()
	for {
		var held <-chan time.Time
		if at, any := s.removals.next(); any {
			held = time.After(time.Until(at))
		}
		var err error
		select {
		case <-ctx.Done():
			s.recording.Discard()
			return
		case <-refresh.C:
			s.refresh()
		case <-held:
			s.options.Logger.Info("the held removals are applied")
			var report func()
			if report, err = s.apply(ctx, time.Now()); err == nil {
				report()
			}
		case l := <-updates:
			if err = l.err; err == nil {
				err = s.load(ctx, l.update)
			}
		}
		if err != nil && ctx.Err() == nil {
			s.refuse(err)
		}
	}
}

// refuse logs why a load changes nothing.
func (s *Server) refuse(err error) {
	if isOfStore(err) {
		s.lose(err)
		return
	}
	n := len(errorsOf(err))
	s.loads.fail(err, time.Now(), "the files have "+diag.Count(n, "error"))
	s.metrics.loadErrors.Set(float64(n))
	s.logErrors(err)
	s.options.Logger.Error("the files have " + diag.Count(n, "error") + "; still serving the previous configuration")
}

// logErrors logs the errors of a load.
func (s *Server) logErrors(err error) {
	log := newLoadLog(func(text string) { s.options.Logger.Error(text) })
	defer log.end()
	var diagnostics diag.Errors
	if !errors.As(err, &diagnostics) {
		log.line(0, diag.OneLine(err.Error()))
	}
	for _, d := range diagnostics {
		log.line(d.Code, diag.OneLine(d.Line()))
	}
}

// load applies a good load. An error comes from the engine, which then still has the
// resources of the previous load.
func (s *Server) load(ctx context.Context, update *source.Update) error {
	if s.confirms(update) {
		update.Recording.Discard()
		return nil
	}
	s.recording.Discard()
	s.files, s.recording = update, update.Recording
	report, err := s.apply(ctx, update.Found)
	if err != nil {
		s.recording.Discard()
		s.recording = nil
		return err
	}
	s.loads.succeed(time.Now())
	s.metrics.loadErrors.Set(0)
	s.stored(update)
	s.stillLost()
	report()
	return nil
}

// apply applies the last good load, except the held removals, and publishes it. Found is
// the time when the change was found. The caller updates the data of /status, and then calls
// report to log what changed.
func (s *Server) apply(ctx context.Context, found time.Time) (report func(), err error) {
	defer s.busy.Begin("applying a load")()
	set, held := s.removals.hold(s.applied, s.files.Set, time.Now())
	batch := s.files.Batch
	if s.resync || set != s.files.Set {
		batch = source.Diff(s.applied, set)
	}
	commit, err := s.engine.Apply(ctx, batch)
	if err != nil {
		s.resync = true
		return nil, err
	}
	first := s.applied == nil
	if at := set.NoResources; len(at) > 0 && (first || !slices.Equal(at, s.applied.NoResources)) {
		s.options.Logger.Warn("left out: " + source.NoResourceText(at))
	}
	s.applied, s.resync = set, set != s.files.Set
	s.publish(&publication{set: set, state: s.builder.At(commit.After)})
	s.grpc.forget(commit)
	s.good.forget(commit)
	s.record(ctx, commit, batch, first)
	s.metrics.commit.Observe(time.Since(found).Seconds())
	s.loads.held.Store(int64(len(s.removals.until)))
	if len(s.removals.until) == 0 {
		s.keep()
	}
	return func() {
		s.log(commit, first)
		s.logUnserved()
		s.logHeld(held)
	}, nil
}

// keep keeps the input of the last good load. It is called when no removal is held, so that
// a server that restarts earlier has all dataplanes.
func (s *Server) keep() {
	if err := s.recording.Keep(); err != nil {
		s.warnOnce("the input of the last good load cannot be kept: " + err.Error())
	}
	s.recording = nil
}
