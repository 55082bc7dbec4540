package serve

import (
	"net"
	"sync"
	"time"

	"github.com/meshmatch/meshmatch/core/xds/server"
)

// fairListener limits the number of connections, in total and for each address (see
// [server.NetworkOf]), so that one client cannot use all of them. Each connection must send its
// first byte in time, or it is closed. A connection over a limit is closed at once, and no other
// connection waits for it.
type fairListener struct {
	net.Listener
	most, mostOfPeer int
	firstByte        time.Duration

	mu    sync.Mutex
	all   int
	peers map[string]int
}

func newFairListener(l net.Listener, most, mostOfPeer int, firstByte time.Duration) *fairListener {
	return &fairListener{Listener: l, most: most, mostOfPeer: mostOfPeer, firstByte: firstByte, peers: map[string]int{}}
}

// Accept implements net.Listener.
func (l *fairListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		peer := server.NetworkOf(conn.RemoteAddr().String())
		if !l.enter(peer) {
			_ = conn.Close()
			continue
		}
		c := &fairConn{Conn: conn, leave: sync.OnceFunc(func() { l.leave(peer) })}
		// Close reads the field, so the timer begins after the field is set.
		c.timer = time.AfterFunc(time.Hour, func() { _ = c.Close() })
		c.timer.Reset(l.firstByte)
		return c, nil
	}
}

func (l *fairListener) enter(peer string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all >= l.most || l.peers[peer] >= l.mostOfPeer {
		return false
	}
	l.all++
	l.peers[peer]++
	return true
}

func (l *fairListener) leave(peer string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all--
	if l.peers[peer]--; l.peers[peer] == 0 {
		delete(l.peers, peer)
	}
}

// fairConn is an admitted connection.
type fairConn struct {
	net.Conn
	leave func()
	timer *time.Timer // closes it, until the first byte
	once  sync.Once
}

// Read implements net.Conn.
func (c *fairConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.once.Do(func() { c.timer.Stop() })
	}
	return n, err
}

// Close implements net.Conn.
func (c *fairConn) Close() error {
	c.timer.Stop()
	c.leave()
	return c.Conn.Close()
}
