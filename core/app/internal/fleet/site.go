package fleet

import (
	"context"
	"net"
	"slices"
	"sync"
	"sync/atomic"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/meshmatch/meshmatch/core/app/internal/relay"
	"github.com/meshmatch/meshmatch/core/xds/server"
)

// bufferSize is the size of a connection's buffer in each direction.
const bufferSize = 16 << 10

// A site is a server of gRPC at an address in memory, until it is closed.
type site struct {
	ads    *server.Server // nil: it answers nothing
	grpc   *grpc.Server
	listen *bufconn.Listener
	cancel context.CancelFunc
	run    sync.WaitGroup
}

// startSite starts a server with the limits of production.
func startSite(r role, options server.Options, also ...func(context.Context, *server.Server)) *site {
	ctx, cancel := context.WithCancel(context.Background())
	s := &site{cancel: cancel}
	r.do(func() {
		s.ads = server.New(options)
		s.run.Go(func() { s.ads.Run(ctx) })
		for _, f := range also {
			s.run.Go(func() { f(ctx, s.ads) })
		}
		s.grpc = grpc.NewServer(s.ads.GRPCOptions(nil)...)
		s.ads.Register(s.grpc)
		s.serve()
	})
	return s
}

func (s *site) serve() {
	s.listen = bufconn.Listen(bufferSize)
	s.run.Go(func() { _ = s.grpc.Serve(&addressed{Listener: s.listen}) })
}

// startBare starts a server that reads what clients send, and answers nothing.
func startBare() *site {
	s := &site{cancel: func() {}}
	s.grpc = grpc.NewServer(grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		for {
			var r discoveryv3.DeltaDiscoveryRequest
			if stream.RecvMsg(&r) != nil {
				return nil // the client has ended
			}
		}
	}))
	s.serve()
	return s
}

// startSource starts the server of a mesh.
func startSource(m *mesh) *site {
	return startSite(sourceRole, server.Options{Source: m, Relay: func(*server.Client) bool { return true }})
}

// startRelay starts a relay of a source.
func startRelay(source *site) (*site, error) {
	r, err := relay.New(relay.Options{Upstreams: []relay.Upstream{{Address: address, Options: source.dialing()}}})
	if err != nil {
		return nil, err
	}
	return startSite(relayRole, server.Options{Source: r, KeepNodes: true}, r.Run), nil
}

// converged reports whether all streams of nodes have accepted the newest state.
func (s *site) converged(nodes []string) bool {
	return !slices.ContainsFunc(nodes, func(id string) bool { return s.ads.NodeState(id) != server.Converged })
}

const address = "passthrough:memory"

func (s *site) dialing() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return s.listen.DialContext(ctx) }),
		// Of 1,000 handshakes at once some come too late for the server. The client then tries again.
		grpc.WithDefaultCallOptions(grpc.WaitForReady(true)),
	}
}

// close ends all streams and what runs.
func (s *site) close() {
	_ = s.listen.Close()
	s.grpc.Stop()
	s.cancel()
	s.run.Wait()
}

// addressed gives each connection an address of its own, so that it is a client of its own.
type addressed struct {
	net.Listener
	last atomic.Int64
}

// Accept implements net.Listener.
func (l *addressed) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	n := l.last.Add(1)
	return remote{conn, &net.TCPAddr{IP: net.IPv4(10, byte(n>>16), byte(n>>8), byte(n)), Port: 1}}, nil
}

type remote struct {
	net.Conn
	from net.Addr
}

// RemoteAddr implements net.Conn.
func (r remote) RemoteAddr() net.Addr { return r.from }
