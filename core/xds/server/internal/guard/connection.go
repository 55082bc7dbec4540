package guard

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
)

// guardedCredentials limit the connections that are not ready, the connections of each
// client, and the handshakes that are computed at a time. A connection after its handshake is
// a [Connection].
type guardedCredentials struct {
	credentials.TransportCredentials
	guard *Guard
}

// Credentials returns the credentials of a gRPC server whose connections are guarded.
func (g *Guard) Credentials(transport credentials.TransportCredentials) credentials.TransportCredentials {
	return guardedCredentials{transport, g}
}

// ServerHandshake implements credentials.TransportCredentials.
func (c guardedCredentials) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	g := c.guard
	from := Peer{Address: NetworkOf(raw.RemoteAddr().String())}
	if err := g.arriving.enter(from, false); err != nil {
		return nil, nil, g.refuse(from, err)
	}
	conn, info, err := c.handshake(raw)
	if err == nil {
		conn, err = g.admitConnection(conn, info)
	}
	if err != nil {
		g.arriving.leave(from)
		return nil, nil, err
	}
	return conn, info, nil
}

// handshake makes a handshake in its turns.
func (c guardedCredentials) handshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	shaking := &handshakeConn{Conn: raw, all: &c.guard.handshakes}
	defer shaking.end()
	return c.TransportCredentials.ServerHandshake(shaking)
}

// Clone implements credentials.TransportCredentials.
func (c guardedCredentials) Clone() credentials.TransportCredentials {
	return guardedCredentials{c.TransportCredentials.Clone(), c.guard}
}

// admitConnection returns the connection of a client that is still arriving, after its handshake.
func (g *Guard) admitConnection(conn net.Conn, info credentials.AuthInfo) (net.Conn, error) {
	c := &Connection{Conn: conn, guard: g, arriving: true}
	c.client.Address = conn.RemoteAddr().String()
	if identify := g.options.Identify; identify != nil {
		// Streams of a client without an identity are refused; until then it is its address.
		c.client.Identity, _ = identify(peer.NewContext(context.Background(), &peer.Peer{Addr: conn.RemoteAddr(), AuthInfo: info}))
	}
	c.budget = g.budgets.enter(c.client, g.options.Relay(c.client))
	if err := c.budget.connect(g.options.MaxStreamsPerPeer); err != nil {
		g.budgets.leave(c.budget, c.client)
		return nil, g.refuse(c.client, err)
	}
	return c, nil
}

// Refuse counts and logs a connection that is closed for an error, which it returns.
func (g *Guard) refuse(c Peer, err error) error {
	g.options.Refused.Add(1)
	g.options.Log.Warn("a connection is refused", "peer", c.Address, "identity", c.Identity, "error", err.Error())
	return err
}

// A Connection is one whose client is charged for requests that have arrived in
// part: gRPC buffers up to MaxRequestBytes bytes for each stream before the server sees any of it.
// The connection ends when they pass a limit. It is not read faster than the pace of its
// client.
type Connection struct {
	net.Conn
	guard  *Guard
	client Peer
	budget *Budget
	frames frames       // used by the goroutine that reads
	spent  atomic.Int64 // and not paid, see pace

	mu       sync.Mutex
	charged  int
	streams  int
	arriving bool // the first frame has not come
	closed   bool
	ended    chan struct{} // closed with the connection; nil until a read waits
}

// refusedGrace is the time from a refused stream until its connection is closed.
const refusedGrace = time.Second

// A connAddr is the remote address of a connection. The handler of a stream gets it, as the
// address of the peer, and nothing else of its connection.
type connAddr struct {
	net.Addr
	conn *Connection
}

// RemoteAddr implements net.Conn.
func (c *Connection) RemoteAddr() net.Addr { return connAddr{c.Conn.RemoteAddr(), c} }

// ConnectionOf returns the connection of a call, nil if it does not have the credentials of a
// guard. The methods of a nil Connection do nothing.
func ConnectionOf(ctx context.Context) *Connection {
	if peer, ok := peer.FromContext(ctx); ok {
		if of, ok := peer.Addr.(connAddr); ok {
			return of.conn
		}
	}
	return nil
}

// Count counts the streams of the connection, if it is known.
func (c *Connection) Count(n int) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.streams += n
}

// Refuse is called for a stream that is refused because the server has too many. A client
// that tries again on the same connection would come here each time.
func (c *Connection) Refuse() {
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

// Spend adds to what the client has to pay before more is read, if the connection is known.
func (c *Connection) Spend(cost int) {
	if c != nil {
		c.spent.Add(int64(cost))
	}
}

// Read implements net.Conn.
func (c *Connection) Read(b []byte) (int, error) {
	c.pay()
	n, err := c.Conn.Read(b)
	grown := c.frames.read(b[:n])
	if c.frames.cost > 0 { // a frame has begun
		c.arrive()
	}
	c.Spend(n + c.frames.cost)
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
func (c *Connection) pay() {
	if c.spent.Load() < paceStep {
		return
	}
	wait := c.budget.spend(int(c.spent.Swap(0)))
	if wait <= 0 {
		return
	}
	c.guard.options.Log.Warn("a client sends too much, and is read later", "peer", c.client.Address, "identity", c.client.Identity)
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
	c.guard.options.Paused.Add(int64(time.Since(begin)))
}

// arrive is called when HTTP/2 has begun, or the connection ends.
func (c *Connection) arrive() {
	c.mu.Lock()
	arriving := c.arriving
	c.arriving = false
	c.mu.Unlock()
	if arriving {
		c.guard.arriving.leave(Peer{Address: NetworkOf(c.client.Address)})
	}
}

func (c *Connection) charge(bytes int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	if bytes < 0 {
		c.budget.End(-bytes)
	} else if err := c.budget.Begin(bytes); err != nil {
		return err
	}
	c.charged += bytes
	return nil
}

// Close implements net.Conn.
func (c *Connection) Close() error {
	c.arrive()
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		c.budget.End(c.charged)
		c.budget.disconnect()
		c.guard.budgets.leave(c.budget, c.client)
		if c.ended != nil {
			close(c.ended)
		}
	}
	c.mu.Unlock()
	return c.Conn.Close()
}
