package server_test

import (
	"bytes"
	"context"
	"net"
	"sync"
	"testing"
	"testing/synctest"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// The tests of this package run in bubbles of package synctest: the connections are in
// memory, and the clock goes on only when nothing else does. A test waits until all
// that it caused has happened (settles), so "no response" needs no time, and times that
// the server keeps are exact.

// running is a server on an in-memory listener.
type running struct {
	*server.Server
	source *xdstest.Source
	grpc   *grpc.Server
	listen *bufconn.Listener
	conn   *grpc.ClientConn
}

// start serves a source until the test ends.
func start(t testing.TB, options server.Options) *running {
	t.Helper()
	s := server.New(options)
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.Run(ctx)
	}()
	g := grpc.NewServer(s.GRPCOptions(nil)...)
	s.Register(g)
	r := &running{Server: s, grpc: g, listen: bufconn.Listen(1 << 20)}
	r.source, _ = options.Source.(*xdstest.Source)
	go func() { _ = g.Serve(r.listen) }()
	r.conn = r.dial(t)
	t.Cleanup(func() {
		cancel()
		<-stopped
		g.Stop()
	})
	return r
}

// dial returns another connection.
func (r *running) dial(t testing.TB) *grpc.ClientConn { return dial(t, r.listen) }

func dial(t testing.TB, listen *bufconn.Listener) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:memory", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listen.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// client starts a client that ends with the test.
func (r *running) client(t testing.TB, options xdstest.Options) *xdstest.Client {
	t.Helper()
	c, err := xdstest.New(context.Background(), r.conn, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// node is the node of the dataplane with an id.
func node(id string) *corev3.Node {
	return &corev3.Node{Id: id, UserAgentName: "envoy"}
}

// must fails the test for the error of a request.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// contents returns what a client holds of a type by name, as the marshalled messages.
func contents(c *xdstest.Client, t wire.Type) map[string]string {
	m := map[string]string{}
	for name, h := range c.Named(t) {
		m[name] = h.Body
	}
	return m
}

// bodies returns the marshalled messages of resources by name.
func bodies(resources ...*wire.Resource) map[string]string {
	m := map[string]string{}
	for _, r := range resources {
		m[r.Name] = string(r.Append(nil))
	}
	return m
}

// settles waits until the server and all clients wait, for each other or for the clock,
// and reports whether a condition holds then.
func settles(condition func() bool) bool {
	synctest.Wait()
	return condition()
}

// lockedBuffer is a buffer that goroutines may write.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
