package guard

import (
	"context"
	"log/slog"
	"sync/atomic"
)

// Options configure a [Guard]. All are required, except Identify.
type Options struct {
	MaxStreams        int // of all clients; 0: there is no limit
	MaxStreamsPerPeer int
	// MaxSubscriptions and MaxSubscriptionBytes limit what is kept for one client, and
	// MaxTotalBytes for all.
	MaxSubscriptions, MaxSubscriptionBytes, MaxTotalBytes int
	MaxRate                                               int // bytes per second of one client
	// Identify returns the identity of the client of a call.
	Identify func(context.Context) (string, error)
	// Relay reports whether a client may have [RelayFactor] times as much as another one.
	Relay func(Peer) bool
	Log   *slog.Logger
	// Refused counts the connections that are refused, and Paused the nanoseconds in which
	// connections were not read.
	Refused, Paused *atomic.Int64
}

// A Peer is a client: its network address, and its identity, which may be empty.
type Peer struct{ Address, Identity string }

// A Guard is safe for concurrent use.
type Guard struct {
	options    Options
	peers      peerLimit
	arriving   peerLimit // connections, by address
	budgets    budgets
	handshakes handshakes
}

// MaxRequestBytes is the limit on one request.
const MaxRequestBytes = 32 << 20

// maxArriving limits the connections that have not begun HTTP/2, which they must within about
// 20 s. One address leaves a quarter of them to others.
const maxArriving = 20_000

// New returns a guard.
func New(options Options) *Guard {
	g := &Guard{options: options}
	g.peers.init(options.MaxStreamsPerPeer, options.MaxStreams)
	g.LimitArriving(maxArriving-maxArriving/4, maxArriving)
	g.budgets.init(options.MaxSubscriptions, options.MaxSubscriptionBytes, options.MaxTotalBytes, options.MaxRate)
	g.handshakes.init()
	return g
}

// Enter admits a stream of a client, and returns the client's budget. The error is
// RESOURCE_EXHAUSTED if the client has too many streams, and UNAVAILABLE if the server has.
// Each Enter without an error needs a Leave.
func (g *Guard) Enter(c Peer) (*Budget, error) {
	relay := g.options.Relay(c)
	if err := g.peers.enter(c, relay); err != nil {
		return nil, err
	}
	return g.budgets.enter(c, relay), nil
}

// Leave is called when a stream has ended and gave back what it used.
func (g *Guard) Leave(c Peer, b *Budget) {
	g.peers.leave(c)
	g.budgets.leave(b, c)
}

// LimitArriving sets the limits on connections that have not begun HTTP/2, of one address and
// of all.
func (g *Guard) LimitArriving(one, all int) { g.arriving.init(one, all) }

// Usage returns the bytes that all clients are charged, the number of clients that have a budget,
// and of connections that have not begun HTTP/2.
func (g *Guard) Usage() (bytes, clients, arriving int) {
	g.budgets.mu.Lock()
	defer g.budgets.mu.Unlock()
	g.arriving.mu.Lock()
	defer g.arriving.mu.Unlock()
	return g.budgets.used, len(g.budgets.clients), g.arriving.all
}
