package server

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
)

// The credentials of this server limit the connections that are not ready, those of each
// client, and the handshakes that are computed at a time. A connection after its handshake is
// a chargingConn.
type chargingCredentials struct {
	credentials.TransportCredentials
	server *Server
}

// ServerHandshake implements credentials.TransportCredentials.
func (c chargingCredentials) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	s := c.server
	from := Client{Address: NetworkOf(raw.RemoteAddr().String())}
	if err := s.arriving.enter(&from, false); err != nil {
		return nil, nil, s.refuseConnection(&from, err)
	}
	conn, info, err := c.handshake(raw)
	if err == nil {
		conn, err = s.admit(conn, info)
	}
	if err != nil {
		s.arriving.leave(&from)
		return nil, nil, err
	}
	return conn, info, nil
}

// handshake makes a handshake in its turns.
func (c chargingCredentials) handshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	shaking := &handshakeConn{Conn: raw, all: &c.server.handshakes}
	defer shaking.end()
	return c.TransportCredentials.ServerHandshake(shaking)
}

// Clone implements credentials.TransportCredentials.
func (c chargingCredentials) Clone() credentials.TransportCredentials {
	return chargingCredentials{c.TransportCredentials.Clone(), c.server}
}

// admit returns the connection of a client that is still arriving, after its handshake.
func (s *Server) admit(conn net.Conn, info credentials.AuthInfo) (net.Conn, error) {
	c := &chargingConn{Conn: conn, server: s, arriving: true}
	c.client.Address = conn.RemoteAddr().String()
	if identify := s.options.Identify; identify != nil {
		// Streams of a client without an identity are refused; until then it is its address.
		c.client.Identity, _ = identify(peer.NewContext(context.Background(), &peer.Peer{Addr: conn.RemoteAddr(), AuthInfo: info}))
	}
	c.budget = s.enterBudget(&c.client)
	if err := c.budget.connect(s.options.MaxStreamsPerPeer); err != nil {
		s.budgets.leave(c.budget, &c.client)
		return nil, s.refuseConnection(&c.client, err)
	}
	return c, nil
}

// refuseConnection counts and logs a connection that is closed for an error, which it returns.
func (s *Server) refuseConnection(c *Client, err error) error {
	s.counters.Refused.Add(1)
	s.log.Warn("a connection is refused", "peer", c.Address, "identity", c.Identity, "error", err.Error())
	return err
}

// A chargingConn is a connection whose client is charged for requests that have arrived in
// part: gRPC buffers up to MaxRequestBytes for each stream before the server sees any of it.
// The connection ends when they pass a limit. It is not read faster than the pace of its
// client.
type chargingConn struct {
	net.Conn
	server *Server
	client Client
	budget *budget
	frames frames       // used by the goroutine that reads
	spent  atomic.Int64 // and not paid, see pace

	mu       sync.Mutex
	charged  int
	streams  int
	arriving bool // the first frame has not come
	closed   bool
	ended    chan struct{} // closed with the connection; nil until a read waits
}

// A connAddr is the remote address of a connection. The handler of a stream gets it, as the
// address of the peer, and nothing else of its connection.
type connAddr struct {
	net.Addr
	conn *chargingConn
}

// RemoteAddr implements net.Conn.
func (c *chargingConn) RemoteAddr() net.Addr { return connAddr{c.Conn.RemoteAddr(), c} }

// connectionOf returns the connection of a call, nil if it does not have the credentials of
// GRPCOptions.
func connectionOf(ctx context.Context) *chargingConn {
	if peer, ok := peer.FromContext(ctx); ok {
		if of, ok := peer.Addr.(connAddr); ok {
			return of.conn
		}
	}
	return nil
}

// count counts the streams of the connection, if it is known.
func (c *chargingConn) count(n int) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.streams += n
}

// refuse is called for a stream that is refused because the server has too many. A client
// that tries again on the same connection would come here each time.
func (c *chargingConn) refuse() {
	if c == nil {
		return
	}
	time.AfterFunc(refusedGrace, func() {
		c.mu.Lock()
		unused := c.streams == 0
		c.mu.Unlock()
		if unused {
			_ = c.Close()
		}
	})
}

// spend adds to what the client has to pay before more is read, if the connection is known.
func (c *chargingConn) spend(cost int) {
	if c != nil {
		c.spent.Add(int64(cost))
	}
}

// Read implements net.Conn.
func (c *chargingConn) Read(b []byte) (int, error) {
	c.pay()
	n, err := c.Conn.Read(b)
	grown := c.frames.read(b[:n])
	if c.frames.cost > 0 { // a frame has begun
		c.arrive()
	}
	c.spend(n + c.frames.cost)
	c.frames.cost = 0
	if grown != 0 {
		if err := c.charge(grown); err != nil {
			_ = c.Close()
			return 0, err
		}
	}
	return n, err
}

// pay waits until the client may send more.
func (c *chargingConn) pay() {
	if c.spent.Load() < paceStep {
		return
	}
	wait := c.budget.spend(int(c.spent.Swap(0)))
	if wait <= 0 {
		return
	}
	c.server.log.Warn("a client sends too much, and is read later", "peer", c.client.Address, "identity", c.client.Identity)
	c.mu.Lock()
	if c.ended == nil {
		c.ended = make(chan struct{})
	}
	ended, closed := c.ended, c.closed
	c.mu.Unlock()
	if closed {
		return
	}
	begin := time.Now()
	select {
	case <-time.After(wait):
	case <-ended:
	}
	c.server.counters.Paused.Add(int64(time.Since(begin)))
}

// arrive is called when HTTP/2 has begun, or the connection ends.
func (c *chargingConn) arrive() {
	c.mu.Lock()
	arriving := c.arriving
	c.arriving = false
	c.mu.Unlock()
	if arriving {
		c.server.arriving.leave(&Client{Address: NetworkOf(c.client.Address)})
	}
}

func (c *chargingConn) charge(bytes int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	if bytes < 0 {
		c.budget.end(-bytes)
	} else if err := c.budget.begin(bytes); err != nil {
		return err
	}
	c.charged += bytes
	return nil
}

// Close implements net.Conn.
func (c *chargingConn) Close() error {
	c.arrive()
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		c.budget.end(c.charged)
		c.budget.disconnect()
		c.server.budgets.leave(c.budget, &c.client)
		if c.ended != nil {
			close(c.ended)
		}
	}
	c.mu.Unlock()
	return c.Conn.Close()
}
