package relay_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/meshmatch/meshmatch/core/app/internal/relay"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// The tests of this package run in bubbles of package synctest: connections are in memory,
// and the clock goes on only when nothing else does. So "nothing was sent" needs no time.

// A site is an address in memory. A server can be started there, stopped, and started again.
// While the site is paused, it accepts connections, and nothing passes in either direction, as
// with a process that is stopped by SIGSTOP.
type site struct {
	*xdstest.Line
	t    testing.TB
	mu   sync.Mutex
	at   *bufconn.Listener // nil while nothing listens
	name string
}

func newSite(t testing.TB, name string) *site {
	s := &site{Line: xdstest.NewLine(), t: t, name: name}
	t.Cleanup(s.Resume)
	return s
}

// dial connects to what listens at the site.
func (s *site) dial(ctx context.Context) (net.Conn, error) {
	s.mu.Lock()
	at := s.at
	s.mu.Unlock()
	if at == nil {
		return nil, errRefused
	}
	server, err := at.DialContext(ctx)
	if err != nil {
		return nil, err
	}
	return s.Over(server)
}

var errRefused = errors.New("connection refused")

func (s *site) options() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return s.dial(ctx) }),
	}
}

func (s *site) upstream() relay.Upstream {
	return relay.Upstream{Address: "passthrough:" + s.name, Options: s.options()}
}

// conn returns a connection to the site.
func (s *site) conn() *grpc.ClientConn {
	s.t.Helper()
	conn, err := grpc.NewClient("passthrough:"+s.name, append(s.options(), grpc.WithIdleTimeout(0))...)
	must(s.t, err)
	s.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// ready waits until a connection to a running server is there.
func ready(conn *grpc.ClientConn) *grpc.ClientConn {
	for conn.Connect(); conn.GetState() != connectivity.Ready; {
		conn.WaitForStateChange(context.Background(), conn.GetState())
		conn.Connect()
	}
	return conn
}

// A running is a server at a site.
type running struct {
	*server.Server
	site *site
	stop func() // kills it
}

// serve starts a server for a source, until the test ends or it is stopped.
func (s *site) serve(options server.Options, also ...func(context.Context, *server.Server)) *running {
	srv := server.New(options)
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { srv.Run(ctx) })
	for _, run := range also {
		all.Go(func() { run(ctx, srv) })
	}
	g := grpc.NewServer(srv.GRPCOptions(nil)...)
	srv.Register(g)
	s.listen(g)
	r := &running{Server: srv, site: s}
	r.stop = sync.OnceFunc(func() {
		s.close()
		g.Stop()
		cancel()
		all.Wait()
	})
	s.t.Cleanup(r.stop)
	return r
}

func (s *site) listen(g *grpc.Server) {
	l := bufconn.Listen(1 << 20)
	s.mu.Lock()
	s.at = l
	s.mu.Unlock()
	go func() { _ = g.Serve(l) }()
}

func (s *site) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at != nil {
		_ = s.at.Close()
		s.at = nil
	}
}

// A relayed is a relay at a site.
type relayed struct {
	*running
	relay *relay.Relay
}

// relay starts a relay at a site.
func (s *site) relay(options relay.Options, edits ...func(*server.Options)) *relayed {
	s.t.Helper()
	if testing.Verbose() {
		options.Logger = slog.New(slog.NewTextHandler(s.t.Output(), nil)).With("at", s.name)
	}
	r, err := relay.New(options)
	must(s.t, err)
	o := server.Options{Source: r, KeepNodes: true}
	for _, edit := range edits {
		edit(&o)
	}
	return &relayed{running: s.serve(o, r.Run), relay: r}
}

// A chain is upstream → relay.
type chain struct {
	source   *xdstest.Source
	upstream *running
	at       *site // of the upstream
	relay    *relayed
}

// startChain starts a server and a relay behind it.
func startChain(t testing.TB, options relay.Options, edits ...func(*server.Options)) *chain {
	t.Helper()
	c := &chain{source: xdstest.NewSource(xdstest.NewState()), at: newSite(t, "upstream")}
	c.upstream = c.at.serve(server.Options{Source: c.source})
	options.Upstreams = []relay.Upstream{c.at.upstream()}
	c.relay = newSite(t, "relay").relay(options, edits...)
	synctest.Wait()
	return c
}

// restart kills the upstream and starts another one after a time.
func (c *chain) restart(after time.Duration) {
	c.upstream.stop()
	time.Sleep(after)
	c.upstream = c.at.serve(server.Options{Source: c.source})
	time.Sleep(time.Minute) // the longest pause between two attempts, and more
	synctest.Wait()
}

// edit changes what the upstream serves, and waits until all clients have it.
func (c *chain) edit(edit func(*xdstest.State)) {
	c.source.Edit(edit)
	synctest.Wait()
}

// client starts a client of a server that ends with the test.
func (r *running) client(options xdstest.Options) *xdstest.Client {
	r.site.t.Helper()
	c, err := xdstest.New(context.Background(), r.site.conn(), options)
	must(r.site.t, err)
	r.site.t.Cleanup(c.Close)
	return c
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func node(id string) *corev3.Node { return &corev3.Node{Id: id, UserAgentName: "envoy"} }

// subscriptions returns to how many names and locators of a type the clients of a server subscribe.
func (r *running) subscriptions(t wire.Type) int64 { return r.Counters().Subscriptions[t].Load() }

// streams returns how many streams a server has.
func (r *running) streams() (n int64) {
	for i := range r.Counters().Streams {
		n += r.Counters().Streams[i].Load()
	}
	return n
}

// pushes returns how many responses a server has sent in a type.
func (r *running) pushes(t wire.Type) int64 { return r.Counters().Pushes[t].Load() }

// located fails the test unless a client holds a content for a locator.
func located(t *testing.T, c *xdstest.Client, of wire.Type, l xdstest.Locator, want *wire.Resource) {
	t.Helper()
	held, ok := c.Located(of, l)
	switch {
	case want == nil && ok:
		t.Errorf("%v: holds %q; it does not exist", l, held.Body)
	case want != nil && held.Body != string(want.Append(nil)):
		t.Errorf("%v: holds %q, want %q", l, held.Body, want.Body)
	}
}
