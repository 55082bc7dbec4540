package serve

import (
	"context"
	"net"
	"sync/atomic"

	"google.golang.org/grpc/test/bufconn"

	"github.com/meshmatch/meshmatch/core/app/internal/relay"
	"github.com/meshmatch/meshmatch/core/xds/server"
)

// A MemoryListener accepts connections in memory. Tests use it in a bubble of package
// synctest.
type MemoryListener struct {
	address *net.TCPAddr
	conns   chan net.Conn
	ctx     context.Context // ends when the listener is closed
	close   context.CancelFunc
}

var memoryPorts atomic.Int32

// NewMemoryListener returns a listener at an IP address and an unused port.
func NewMemoryListener(ip net.IP) *MemoryListener {
	l := &MemoryListener{address: &net.TCPAddr{IP: ip, Port: int(memoryPorts.Add(1))}, conns: make(chan net.Conn)}
	l.ctx, l.close = context.WithCancel(context.Background())
	return l
}

// Dial connects from an address, such as 10.0.0.1:1.
func (l *MemoryListener) Dial(ctx context.Context, from string) (net.Conn, error) {
	pair := bufconn.Listen(16 << 10)
	accepted := make(chan net.Conn, 1)
	go func() {
		server, _ := pair.Accept()
		accepted <- server
	}()
	client, err := pair.Dial()
	if err != nil {
		return nil, err
	}
	select {
	case l.conns <- addressed{<-accepted, from}:
		return client, nil
	case <-l.ctx.Done():
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (l *MemoryListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *MemoryListener) Close() error {
	l.close()
	return nil
}

// Addr implements net.Listener.
func (l *MemoryListener) Addr() net.Addr { return l.address }

// ServeOn sets the listeners of a server or a relay, instead of [Server.Listen]. The health listener
// may be nil.
func (s *front) ServeOn(xds, http, health net.Listener) {
	s.xdsListener, s.httpListener, s.healthListener = xds, http, health
}

// ADS returns the server of ADS.
func (s *front) ADS() *server.Server { return s.ads }

// Upstream returns what is between the clients of a relay and its upstream.
func (s *Relay) Upstream() *relay.Relay { return s.relay }

// addressed is a connection from an address.
type addressed struct {
	net.Conn
	from string
}

func (c addressed) RemoteAddr() net.Addr { return address(c.from) }

type address string

func (a address) Network() string { return "tcp" }
func (a address) String() string  { return string(a) }
