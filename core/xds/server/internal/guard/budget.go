package guard

import (
	"net"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// budgets limits what the server keeps for each client over all its streams, and for all
// clients together (SPEC 12.3). Names and locators are limited by number and by their size
// in memory. What a stream used is free again when it ends.
type budgets struct {
	names, bytes int // for each client
	total        int // bytes of all clients that are no relays
	rate         int // of each client, see pace

	mu      sync.Mutex
	used    int // of total
	clients map[string]*Budget
}

// RelayFactor is how many times as much as another client a relay may use, because it
// subscribes for many.
const RelayFactor = 10

// A client with few subscriptions is admitted while any room is left. One with many must
// leave a quarter of the total free.
const fewBytes = 1 << 20

// A Budget is what one client uses. It is guarded by the lock of budgets.
type Budget struct {
	all   *budgets
	relay bool
	users int // streams and connections
	conns int
	names int
	bytes int // of subscriptions
	work  int // bytes of requests that come in or are being handled
	pace  pace
}

func (b *budgets) init(names, bytes, total, rate int) {
	b.names, b.bytes, b.total, b.rate, b.clients = names, bytes, total, rate, map[string]*Budget{}
}

// budgetKey identifies the client: by its identity; if it has none, by its host; and if
// that is this machine, where all clients have one host, by its connection. It is empty
// for a client that cannot be identified: each of its streams has its own budget.
func budgetKey(c Peer) string {
	if c.Identity != "" {
		return c.Identity
	}
	host, _, err := net.SplitHostPort(c.Address)
	ip := net.ParseIP(host)
	switch {
	case err != nil || ip == nil:
		return ""
	case ip.IsLoopback():
		return c.Address
	}
	return host
}

// enter returns the budget of the client of a new stream or connection.
func (b *budgets) enter(c Peer, relay bool) *Budget {
	key := budgetKey(c)
	b.mu.Lock()
	defer b.mu.Unlock()
	own := b.clients[key]
	if own == nil {
		own = &Budget{all: b, relay: relay}
		if key != "" {
			b.clients[key] = own
		}
	}
	own.users++
	return own
}

// leave is called when a stream or connection of the client has ended and gave back what
// it used. What a client has to pay is kept: it may connect again.
func (b *budgets) leave(u *Budget, c Peer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	u.users--
	b.forget(u, budgetKey(c))
}

// forget drops the budget of a client without streams and connections, when that has nothing to
// pay. It is called with the lock.
func (b *budgets) forget(u *Budget, key string) {
	if u.users > 0 || b.clients[key] != u {
		return
	}
	if due := u.pace.due(b.rate * u.Factor()); due > 0 {
		time.AfterFunc(due, func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.forget(u, key)
		})
		return
	}
	delete(b.clients, key)
}

// connect counts a connection of the client. The error, RESOURCE_EXHAUSTED, indicates that it
// has too many. Each connect without an error needs a disconnect.
func (u *Budget) connect(limit int) error {
	limit *= u.Factor()
	u.all.mu.Lock()
	defer u.all.mu.Unlock()
	if u.conns >= limit {
		return status.Errorf(codes.ResourceExhausted, "the limit of %d connections for one client is reached", limit)
	}
	u.conns++
	return nil
}

func (u *Budget) disconnect() {
	u.all.mu.Lock()
	defer u.all.mu.Unlock()
	u.conns--
}

// spend makes the client pay, and returns how long it has to wait.
func (u *Budget) spend(cost int) time.Duration { return u.pace.spend(cost, u.all.rate*u.Factor()) }

// Factor returns by how much the limits of the client are multiplied.
func (u *Budget) Factor() int {
	if u.relay {
		return RelayFactor
	}
	return 1
}

// Use adds names and bytes to what the client uses; they are negative if it uses less. The
// change is made even if the error, RESOURCE_EXHAUSTED, indicates that it passes a limit:
// the stream then ends, and gives all back.
func (u *Budget) Use(names, bytes int) error {
	b := u.all
	b.mu.Lock()
	defer b.mu.Unlock()
	u.names += names
	u.bytes += bytes
	if !u.relay {
		b.used += bytes
	}
	switch {
	case names <= 0 && bytes <= 0:
		return nil
	case u.names > b.names*u.Factor():
		return status.Errorf(codes.ResourceExhausted, "the client subscribes %d names and locators, the limit is %d", u.names, b.names*u.Factor())
	case u.bytes > b.bytes*u.Factor():
		return status.Errorf(codes.ResourceExhausted, "the subscriptions of the client have %d bytes, the limit is %d", u.bytes, b.bytes*u.Factor())
	}
	return b.admit(u)
}

// Begin charges a request while it is handled, and end gives that back.
func (u *Budget) Begin(bytes int) error {
	b := u.all
	b.mu.Lock()
	defer b.mu.Unlock()
	if u.work+bytes > b.bytes*u.Factor() {
		return status.Errorf(codes.ResourceExhausted, "the requests of the client that are handled have %d bytes, the limit is %d", u.work+bytes, b.bytes*u.Factor())
	}
	u.work += bytes
	if !u.relay {
		b.used += bytes
	}
	err := b.admit(u)
	if err != nil {
		u.work -= bytes
		b.used -= bytes
	}
	return err
}

func (u *Budget) End(bytes int) {
	u.all.mu.Lock()
	defer u.all.mu.Unlock()
	u.work -= bytes
	if !u.relay {
		u.all.used -= bytes
	}
}

// admit checks the total. It is called with the lock.
func (b *budgets) admit(u *Budget) error {
	limit := b.total
	if u.bytes+u.work > fewBytes {
		limit -= limit / 4
	}
	if !u.relay && b.used > limit {
		return status.Errorf(codes.ResourceExhausted, "the subscriptions of all clients have %d bytes, the limit is %d; connect again later", b.used, limit)
	}
	return nil
}
