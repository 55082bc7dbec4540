package serve

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/identity/ca"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/internal/xds/sds"
	"github.com/meshmatch/meshmatch/core/resource"
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
	busy      source.Busy
	kinds     map[string]bool // that are read
	reviews   reviews
	changes   changes

	// The following are used by the goroutine of Run alone.
	applied   *resource.Set     // of the last batch that the engine applied
	unserved  int               // the documents of variants in it
	resync    bool              // the batch of the next load does not begin with applied
	files     *source.Update    // the last good load
	recording *source.Recording // of it, until it is kept
	removals  removals
	logged    map[string]bool
	lacksKeys bool // private keys are not served, and that was logged
}

// New returns a server. It returns an error if the TLS files or the token are invalid.
func New(options Options) (*Server, error) {
	options.setDefaults()
	s := &Server{
		engine:  core.NewEngine(options.Loader.Kinds, engineOptions(&options)),
		builder: snapshot.NewBuilder(options.Translators, snapshot.Options{}),
		issuer:  sds.NewIssuer(authorities(&options)),
		logged:  map[string]bool{},
		kinds:   map[string]bool{},
		grpc:    &grpcNodes{connected: make(chan struct{}, 1)},

		removals: removals{percent: options.MaxRemoved, grace: options.RemovalGrace},
	}
	for _, shape := range resource.Shapes(options.Loader.Kinds, options.Loader.Documents) {
		s.kinds[shape.Kind] = true
	}
	if options.State != "" && len(options.Stores) == 0 {
		s.keeper = source.NewKeeper(options.State)
	}
	if err := s.front.init(options); err != nil {
		return nil, err
	}
	if err := s.reviews.init(s); err != nil {
		return nil, err
	}
	s.handler = s.Handler
	s.isReady = func() bool { return s.publisher.current.Load().set != nil }
	s.ownsPath = func(id string, u *url.URL) bool { return s.publisher.current.Load().ownsPath(id, u) }
	s.good.drains = newDrainLog(options.Logger, options.Loader.Kinds.Names())
	s.publisher.publish(&publication{state: s.builder.At(s.engine.View()), grpc: s.grpc, good: &s.good})
	s.metrics = newMetrics(s)
	s.ads = server.New(s.serverOptions())
	s.warner = &warner{log: options.Logger, tls: s.tls != nil}
	return s, nil
}

// authorities returns the CAs of the server.
func authorities(o *Options) *ca.Authorities {
	if o.CAs != nil {
		return ca.NewSharedAuthorities(o.CAs, o.State)
	}
	return ca.NewAuthorities(o.State)
}

// adsOptions returns the options of ADS that serve and relay have in common.
func (s *front) adsOptions(source server.Source, push prometheus.Histogram) server.Options {
	o := server.Options{
		Source: source, Logger: s.options.Logger,
		ObservePush: func(d time.Duration) { push.Observe(d.Seconds()) },
		MaxStreams:  s.options.MaxStreams, MaxConnectionAge: s.options.MaxConnectionAge, MaxRate: s.options.MaxClientRate,
	}
	if keys := s.options.Parameters; len(keys) > 0 {
		o.Parameters = func(metadata *structpb.Struct) map[string]string { return variant.FromMetadata(metadata, keys) }
	}
	return o
}

func (s *Server) serverOptions() server.Options {
	old := &oldVersions{log: s.options.Logger, logged: map[string]bool{}}
	o := s.adsOptions(&s.publisher, s.metrics.push)
	o.Follow, o.Refuse = followed, old.admit
	if s.tls != nil {
		a := &access{s.options.Relays, s.options.RelaySecrets}
		o.Identify, o.Access, o.Relay, o.Secrets, o.SpeaksFor = identify, a, a.isRelay, a.mayHaveSecrets, speaksFor
	}
	return o
}

// Run serves until the context ends, and then returns nil. If the first load has errors and
// Options.State has no last good input, it returns those errors, a [diag.Errors]. It also
// returns the errors of listeners. It is called once.
// A computation that does not end delays the end by at most 5 s.
func (s *Server) Run(ctx context.Context) error { return untilEnd(ctx, s.run) }

func (s *Server) run(ctx context.Context) error {
	if s.httpListener == nil {
		if err := s.Listen(); err != nil {
			return err
		}
	}
	if s.xdsListener != nil {
		defer s.xdsListener.Close()
	}
	if err := s.reviews.listen(s.options.Admission); err != nil {
		s.httpListener.Close()
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel(nil)
	running.Go(func() { s.serveHTTP(ctx, cancel) })
	if s.healthListener != nil {
		running.Go(func() { s.serveHealth(ctx, cancel) })
	}
	if s.reviews.listener != nil {
		running.Go(func() { s.serveReviews(ctx, cancel) })
	}
	updates := make(chan loaded)
	running.Go(func() { s.watchWork(ctx) })
	running.Go(func() { returnMemory(ctx, s.ads.Counters(), &s.publisher) })
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

func engineOptions(o *Options) core.Options {
	if o.Semantics == nil {
		return core.Options{Semantics: core.TargetRef} // checkSemantics refuses resources of Kuma
	}
	return core.Options{Semantics: *o.Semantics}
}

// publish publishes with the current secrets.
func (s *Server) publish(p *publication) {
	if s.options.PagesOnly {
		s.publisher.publish(p)
		return
	}
	secrets := s.issuer.SecretsAt(p.view(), time.Now())
	for _, problem := range secrets.Problems() {
		s.warnOfProblem(problem)
	}
	if s.servesKeys() {
		p.secrets = secrets
	} else if !s.lacksKeys && (secrets.Any() || hasExternalKeys(p.view())) {
		s.lacksKeys = true
		s.warnOfProblem(ErrKeysNotServed)
	}
	p.grpc, p.good = s.grpc, &s.good
	s.publisher.publish(p)
}

// servesKeys reports whether private keys may be served: over TLS or on loopback.
func (s *Server) servesKeys() bool {
	return !s.options.PagesOnly && (s.tls != nil || isLoopback(s.xdsListener.Addr()))
}

// hasExternalKeys reports whether proxies present a certificate to an external service.
func hasExternalKeys(view *core.View) bool {
	presents := func(o resource.Object) bool {
		s, is := o.(*resource.MeshExternalService)
		return is && s.UsesTLS() && s.Verification().PresentsClientCert()
	}
	return slices.ContainsFunc(view.Meshes(), func(mesh string) bool { return slices.ContainsFunc(view.Objects(mesh), presents) })
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
	if s.servesKeys() && s.issuer.SecretsAt(current.view(), time.Now()) != current.secrets {
		s.publish(&publication{set: current.set, state: current.state})
	}
}
