package server

import (
	"context"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
)

// The credentials of this server limit the handshakes that are computed at a time, and
// charge a client for requests that have arrived in part: gRPC buffers up to
// MaxRequestBytes for each stream before the server sees any of it.
type chargingCredentials struct {
	credentials.TransportCredentials
	server *Server
}

// ServerHandshake implements credentials.TransportCredentials.
func (c chargingCredentials) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	s := c.server
	shaking := &handshakeConn{Conn: raw, all: &s.handshakes}
	conn, info, err := c.TransportCredentials.ServerHandshake(shaking)
	shaking.end()
	if err != nil {
		return conn, info, err
	}
	client := Client{Address: conn.RemoteAddr().String()}
	if identify := s.options.Identify; identify != nil {
		// Streams of a client without an identity are refused; until then it is its address.
		client.Identity, _ = identify(peer.NewContext(context.Background(), &peer.Peer{Addr: conn.RemoteAddr(), AuthInfo: info}))
	}
	charging := &chargingConn{Conn: conn, budget: s.enterBudget(&client)}
	charging.leave = func() { s.budgets.leave(charging.budget, &client) }
	return charging, info, nil
}

// Clone implements credentials.TransportCredentials.
func (c chargingCredentials) Clone() credentials.TransportCredentials {
	return chargingCredentials{c.TransportCredentials.Clone(), c.server}
}

// A chargingConn is a connection whose client is charged for partial requests. It ends
// when they pass a limit.
type chargingConn struct {
	net.Conn
	budget *budget
	leave  func()
	frames frames // used by the goroutine that reads

	mu      sync.Mutex
	charged int
	closed  bool
	streams int
}

// A connAddr is the remote address of a connection. The handler of a stream gets it, as the
// address of the peer, and nothing else of its connection.
type connAddr struct {
	net.Addr
	conn *chargingConn
}

// RemoteAddr implements net.Conn.
func (c *chargingConn) RemoteAddr() net.Addr { return connAddr{c.Conn.RemoteAddr(), c} }

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

// Read implements net.Conn.
func (c *chargingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if grown := c.frames.read(b[:n]); grown != 0 {
		if err := c.charge(grown); err != nil {
			_ = c.Close()
			return 0, err
		}
	}
	return n, err
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
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		c.budget.end(c.charged)
		c.leave()
	}
	c.mu.Unlock()
	return c.Conn.Close()
}
