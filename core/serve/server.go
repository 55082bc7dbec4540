package serve

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/identity/ca"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/semantics"
	"github.com/meshmatch/meshmatch/core/source"
	"github.com/meshmatch/meshmatch/core/variant"
	"github.com/meshmatch/meshmatch/core/xds/sds"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
)

// Server watches files and serves the configuration of their resources. Make it with
// [New], then call [Server.Run] once.
type Server struct {
	front
	engine    *core.Engine
	builder   *snapshot.Builder
	issuer    *sds.Issuer
	grpc      *grpcNodes
	good      lastGood
	publisher publisher
	metrics   *metrics
	warner    *warner
	keeper    *source.Keeper // of the files; nil: no input of files is kept
	store     storeState
	loads     loads
	changes   changes

	// The following are used by the goroutine of Run alone.
	applied   *resource.Set     // of the last batch that the engine applied
	behind    bool              // the batch of the next load does not begin with applied
	files     *source.Update    // the last good load
	recording *source.Recording // of it, until it is kept
	removals  removals
	logged    map[string]bool
}

// New returns a server. It returns an error if the TLS files or the token are invalid.
func New(options Options) (*Server, error) {
	options.setDefaults()
	s := &Server{
		engine:  core.NewEngine(options.Loader.Kinds, engineOptions(&options)),
		builder: snapshot.NewBuilder(options.Translators, snapshot.Options{}),
		issuer:  sds.NewIssuer(authorities(&options)),
		logged:  map[string]bool{},
		grpc:    newGRPCNodes(),

		removals: removals{percent: options.MaxRemoved, grace: options.RemovalGrace},
	}
	if options.State != "" && len(options.Stores) == 0 {
		s.keeper = source.NewKeeper(options.State)
	}
	if err := s.front.init(options); err != nil {
		return nil, err
	}
	s.handler = s.Handler
	s.isReady = func() bool { return s.publisher.current.Load().set != nil }
	s.ownsPath = func(id string, u *url.URL) bool { return s.publisher.current.Load().ownsPath(id, u) }
	s.good.drains = newDrainLog(options.Logger, options.Loader.Kinds.Names())
	s.publisher.publish(&publication{state: s.builder.At(s.engine.View()), grpc: s.grpc, good: &s.good})
	s.metrics = newMetrics(s)
	s.ads = server.New(s.adsOptions())
	s.warner = newWarner(options.Logger, s.tls != nil)
	return s, nil
}

// authorities returns the CAs of the server.
func authorities(o *Options) *ca.Authorities {
	if o.CAs != nil {
		return ca.NewSharedAuthorities(o.CAs, o.State)
	}
	return ca.NewAuthorities(o.State)
}

func (s *Server) adsOptions() server.Options {
	push := s.metrics.push
	o := server.Options{
		Source: &s.publisher, Logger: s.options.Logger,
		ObservePush: func(d time.Duration) { push.Observe(d.Seconds()) },
		MaxStreams:  s.options.MaxStreams, MaxConnectionAge: s.options.MaxConnectionAge,
	}
	if s.tls != nil {
		a := &access{s.options.Relays, s.options.RelaySecrets}
		o.Identify, o.Access, o.Relay, o.Secrets, o.SpeaksFor = identify, a, a.isRelay, a.mayHaveSecrets, speaksFor
	}
	if keys := s.options.Parameters; len(keys) > 0 {
		o.Parameters = func(metadata *structpb.Struct) map[string]string { return variant.FromMetadata(metadata, keys) }
	}
	return o
}

// Run serves until the context ends, and then returns nil. If the first load has errors and
// Options.State has no last good input, it returns those errors, a [diag.Errors]. It also
// returns the errors of listeners. It is called once.
func (s *Server) Run(ctx context.Context) error {
	if s.httpListener == nil {
		if err := s.Listen(); err != nil {
			return err
		}
	}
	if s.xdsListener != nil {
		defer s.xdsListener.Close()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel(nil)
	running.Go(func() { s.serveHTTP(ctx, cancel) })
	if s.healthListener != nil {
		running.Go(func() { s.serveHealth(ctx, cancel) })
	}
	updates := make(chan loaded)
	running.Go(func() { s.watch(ctx, updates) })
	if err := s.first(ctx, updates); err != nil || ctx.Err() != nil {
		return causeOf(ctx, err)
	}
	if !s.options.PagesOnly {
		running.Go(func() { s.ads.Run(ctx) })
		running.Go(func() { s.serveADS(ctx, cancel) })
		running.Go(func() { s.warner.run(ctx, &s.publisher) })
	}
	if s.options.Loaded != nil {
		s.options.Loaded()
	}
	s.follow(ctx, updates)
	return causeOf(ctx, nil)
}

// causeOf returns an error, or why the context was cancelled, unless its parent ended.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err == nil && cause != nil && !errors.Is(cause, ctx.Err()) {
		return cause
	}
	return err
}

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
			Quiet: s.options.Quiet, Rescan: s.options.Rescan, Notifications: s.options.Notifications, Notice: notice,
		})
	}
	for _, store := range s.options.Stores {
		stored := &source.Stored{Store: store, Loader: s.options.Loader, AcceptRollback: s.options.AcceptRollback, Notice: notice}
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
				return s.resume(ctx, err)
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
		s.behind = true
		return ErrNoResources
	}
	if err := s.checkSemantics(update.Set); err != nil {
		update.Recording.Discard()
		return err
	}
	return s.load(ctx, update)
}

func engineOptions(o *Options) core.Options {
	if o.Semantics == nil {
		return core.Options{}
	}
	return core.Options{Semantics: *o.Semantics}
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
	for _, text := range errorsOf(err) {
		s.options.Logger.Error(text)
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
	set, held := s.removals.hold(s.applied, s.files.Set, time.Now())
	batch := s.files.Batch
	if s.behind || set != s.files.Set {
		batch = source.Diff(s.applied, set)
	}
	commit, err := s.engine.Apply(ctx, batch)
	if err != nil {
		s.behind = true
		return nil, err
	}
	first := s.applied == nil
	s.applied, s.behind = set, set != s.files.Set
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

// publish publishes with the current secrets.
func (s *Server) publish(p *publication) {
	if s.options.PagesOnly {
		s.publisher.publish(p)
		return
	}
	secrets := s.issuer.At(p.view(), time.Now())
	for _, problem := range secrets.Problems() {
		s.warnOfProblem(problem)
	}
	if s.servesKeys() {
		p.secrets = secrets
	} else if secrets.Any() {
		s.warnOfProblem(ErrKeysNotServed)
	}
	p.grpc, p.good = s.grpc, &s.good
	s.publisher.publish(p)
}

// servesKeys reports whether private keys may be served: over TLS or on loopback.
func (s *Server) servesKeys() bool {
	return !s.options.PagesOnly && (s.tls != nil || isLoopback(s.xdsListener.Addr()))
}

// warnOfProblem logs a problem once, with its remedy.
func (s *Server) warnOfProblem(problem error) {
	warning := problem.Error()
	if remedy := s.options.Remedy(problem); remedy != "" {
		warning += "; " + remedy
	}
	s.warnOnce(warning)
}

// warnOnce logs a warning once.
func (s *Server) warnOnce(warning string) {
	if !s.logged[warning] {
		s.logged[warning] = true
		s.options.Logger.Warn(diag.OneLine(warning))
	}
}

// refresh reads the token again. It publishes again if certificates are due for renewal or
// the files of a CA have changed.
func (s *Server) refresh() {
	if err := s.operators.load(); err != nil {
		s.warnOnce("the token of operators cannot be read; the previous one stays in use: " + err.Error())
	}
	current := s.publisher.current.Load()
	if s.servesKeys() && s.issuer.At(current.view(), time.Now()) != current.secrets {
		s.publish(&publication{set: current.set, state: current.state})
	}
}
