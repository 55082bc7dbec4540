package serve

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"google.golang.org/grpc"

	"github.com/meshmatch/meshmatch/core/app/internal/relay"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/inspectapi"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/pages"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// RelayOptions configure a [Relay]. Upstreams is required.
type RelayOptions struct {
	// Of Options, a relay has those for listeners and clients: XDS, HTTP, Health, TLS, Insecure,
	// Relays, Operators, OperatorToken, HTTPHosts, Parameters, MaxStreams, MaxConnectionAge,
	// MaxClientRate, State, Version, Logger, Grace.
	Options
	// Upstreams are the addresses of ADS servers, in the order in which they are tried.
	Upstreams []string
	// UpstreamTLS are the files for TLS to the upstream; nil: no TLS. Its ClientCA are the CAs
	// of the upstream's certificate. Certificate and Key may be empty.
	UpstreamTLS *TLSFiles
	// Dial are further options of the connections to the upstreams.
	Dial   []grpc.DialOption
	Mode   relay.Mode
	Idle   time.Duration
	MaxAge time.Duration
}

// A Relay is a caching proxy between clients and an upstream (SPEC 16). Make it with
// [NewRelay], then call [Relay.Run] once.
type Relay struct {
	front
	relay    *relay.Relay
	registry *prometheus.Registry
}

// NewRelay returns a relay. The error is that a file is invalid, or the options are.
func NewRelay(options RelayOptions) (*Relay, error) {
	options.setDefaults()
	s := &Relay{registry: prometheus.NewRegistry()}
	if err := s.front.init(options.Options); err != nil {
		return nil, err
	}
	transport, err := upstreamCredentials(options.UpstreamTLS, options.Logger)
	if err != nil {
		return nil, err
	}
	trusts := &access{relays: options.Relays}
	o := relay.Options{
		Mode: options.Mode, Idle: options.Idle, MaxAge: options.MaxAge, State: options.State,
		Authenticated: s.tls != nil, NoSecrets: s.tls == nil && options.Insecure,
		Trusted: trusts.isRelay, Logger: options.Logger,
	}
	dial := append([]grpc.DialOption{grpc.WithTransportCredentials(transport)}, options.Dial...)
	o.Upstreams = lists.Map(options.Upstreams, func(address string) relay.Upstream {
		return relay.Upstream{Address: address, Options: slices.Clone(dial)}
	})
	if s.relay, err = relay.New(o); err != nil {
		return nil, err
	}
	push := newHistogram("push_seconds", "Time from when a change is found until its response is passed to gRPC.")
	ads := s.adsOptions(s.relay, push)
	ads.KeepNodes = true
	if s.tls != nil {
		ads.Identify, ads.Relay, ads.SpeaksFor = identify, trusts.isRelay, speaksFor
	}
	s.ads = server.New(ads)
	s.registry.MustRegister(push, relayCollector{s},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	s.handler, s.isReady, s.concerns = s.Handler, s.relay.Ready, s.rejectedNames
	s.ownsPath = func(string, *url.URL) bool { return false } // a relay has no identities of dataplanes
	return s, nil
}

// Run serves until the context ends, and then returns nil. It returns the error of a listener.
// It is called once.
func (s *Relay) Run(ctx context.Context) error { return untilEnd(ctx, s.run) }

func (s *Relay) run(ctx context.Context) error {
	if s.xdsListener == nil {
		if err := s.Listen(); err != nil {
			return err
		}
	}
	defer s.xdsListener.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel(nil)
	running.Go(func() { s.serveHTTP(ctx, cancel) })
	if s.healthListener != nil {
		running.Go(func() { s.serveHealth(ctx, cancel) })
	}
	running.Go(func() { returnMemory(ctx, s.ads.Counters(), s.relay) })
	running.Go(func() { s.relay.Run(ctx, s.ads) })
	running.Go(func() { s.ads.Run(ctx) })
	running.Go(func() { s.serveADS(ctx, cancel) })
	<-ctx.Done()
	return causeOf(ctx, nil)
}

// Handler returns the handler of HTTP requests: health, metrics and status.
func (s *Relay) Handler() http.Handler {
	mux := s.health()
	mux.HandleFunc(loginPath, s.login)
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /status", s.status)
	mux.HandleFunc("GET /dataplanes/{kri}/status", s.dataplaneStatus)
	mux.HandleFunc("GET /converged", s.converged)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		inspectapi.WriteProblem(w, http.StatusNotFound, "a relay has /status, /metrics, /converged and /dataplanes/KRI/status; ask serve about policies")
	})
	return s.guard(mux)
}

// RelayStatus is the answer of GET /status of a relay (SPEC 16).
type RelayStatus struct {
	Version    string             `json:"version"`
	Dataplanes *pages.ProxyStates `json:"dataplanes"`
	Streams    int64              `json:"streams"`
	Upstream   relay.Status       `json:"upstream"`
}

// status answers GET /status.
func (s *Relay) status(w http.ResponseWriter, _ *http.Request) {
	inspectapi.WriteJSON(w, RelayStatus{
		Version: s.options.Version, Upstream: s.relay.Status(), Dataplanes: pages.NewProxyStates(s.nodeStates()), Streams: s.streams(),
	})
}

// nodeStates returns how many nodes have each state.
func (s *Relay) nodeStates() (states [server.NumNodeStates]int) {
	for _, id := range s.nodes() {
		states[s.ads.NodeState(id)]++
	}
	return states
}

// rejectedNames returns a line for each type that has names whose newest content was NACKed.
func (s *Relay) rejectedNames() (lines []string) {
	_, count := s.relay.RejectedNames()
	for t, n := range count {
		if n > 0 {
			lines = append(lines, fmt.Sprintf("%d %s are not what the upstream last sent, because the relay rejected that; /status names them", n, wire.Type(t)))
		}
	}
	return lines
}

// nodes returns the ids of the nodes that are connected or held, sorted.
func (s *Relay) nodes() []string {
	ids := append(s.ads.NodeIDs(), s.relay.NodeIDs()...)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// dataplaneStatus answers GET /dataplanes/{kri}/status.
func (s *Relay) dataplaneStatus(w http.ResponseWriter, r *http.Request) {
	status := s.ads.Status(r.PathValue("kri"))
	if len(status.Streams) == 0 {
		inspectapi.WriteProblem(w, http.StatusNotFound, "no client with this node is connected to the relay")
		return
	}
	inspectapi.WriteJSON(w, status)
}

// converged answers GET /converged?timeout=10s.
func (s *Relay) converged(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("dataplanes") != "" {
		inspectapi.WriteProblem(w, http.StatusBadRequest, "a relay has no labels of dataplanes; leave dataplanes out, or ask serve")
		return
	}
	ctx, cancel, ok := waiting(w, r)
	if !ok {
		return
	}
	defer cancel()
	inspectapi.WriteJSON(w, s.waitFor(ctx, s.nodes()))
}

// relayCollector reads the counters of a relay at each scrape.
type relayCollector struct{ *Relay }

var (
	upstreamConnectedDesc     = newDesc("upstream_connected", "1 if an upstream is connected; else 0.")
	upstreamAgeDesc           = newDesc("upstream_age_seconds", "Seconds since an upstream was last connected; 0 while one is.")
	upstreamStreamsDesc       = newDesc("upstream_streams", "Streams to the upstream.")
	upstreamSubscriptionsDesc = newDesc("upstream_subscriptions", "Locators that are subscribed upstream.", "type")
	upstreamResponsesDesc     = newDesc("upstream_responses_total", "Responses of the upstream.")
	upstreamBytesDesc         = newDesc("upstream_response_bytes_total", "Bytes of responses of the upstream.")
	upstreamRejectedDesc      = newDesc("upstream_rejected_total", "Responses of the upstream with something wrong.")
	upstreamWrongDesc         = newDesc("upstream_wrong_names", "Names that are not what the upstream last sent, for more than 15 s, because the relay rejected that.", "type")
)

// Describe implements [prometheus.Collector].
func (relayCollector) Describe(descs chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{streamsDesc, subscriptionsDesc, pushesDesc, pushBytesDesc, nacksDesc, dataplanesDesc,
		refusedDesc, pausedDesc, unloggedDesc, upstreamConnectedDesc, upstreamAgeDesc, upstreamStreamsDesc, upstreamSubscriptionsDesc, upstreamResponsesDesc, upstreamBytesDesc, upstreamRejectedDesc, upstreamWrongDesc} {
		descs <- d
	}
}

// Collect implements [prometheus.Collector].
func (c relayCollector) Collect(metrics chan<- prometheus.Metric) {
	values := scrape(metrics)
	c.collectADS(values, c.nodeStates(), c.relay.Counters().Unlogged.Load())
	subscriptions := c.relay.Subscriptions()
	_, rejected := c.relay.RejectedNames()
	for t := range wire.Type(wire.NumTypes) {
		values.gauge(upstreamSubscriptionsDesc, float64(subscriptions[t]), t.String())
		values.gauge(upstreamWrongDesc, float64(rejected[t]), t.String())
	}
	upstream, exchanged := c.relay.Status(), c.relay.Counters()
	values.flag(upstreamConnectedDesc, upstream.Connected)
	values.gauge(upstreamAgeDesc, float64(upstream.Age))
	values.gauge(upstreamStreamsDesc, float64(upstream.Streams))
	values.counter(upstreamResponsesDesc, float64(exchanged.Responses.Load()))
	values.counter(upstreamBytesDesc, float64(exchanged.Bytes.Load()))
	values.counter(upstreamRejectedDesc, float64(exchanged.Rejected.Load()))
}
