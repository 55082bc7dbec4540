package guard

import (
	"net"
	"net/netip"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A peerLimit limits the streams of each client, by identity, or by host of the
// network address if there is none, and of all clients together.
type peerLimit struct {
	limit int
	total int // 0: there is no limit

	mu      sync.Mutex
	all     int
	streams map[string]int
	many    map[string]int // streams by budgetKey, of clients that it identifies
}

// A client with few streams is admitted while the server has room. One with more must leave
// a quarter of the total to others, or a single client could keep all others out.
const fewStreams = 16

func (p *peerLimit) init(limit, total int) {
	p.limit, p.total, p.streams, p.many = limit, total, map[string]int{}, map[string]int{}
}

func peerKey(c Peer) string {
	if c.Identity != "" {
		return c.Identity
	}
	host, _, err := net.SplitHostPort(c.Address)
	if err != nil {
		return c.Address
	}
	return host
}

// NetworkOf returns what a limit on connections applies to before a client has an identity, from
// an address with a port: its IP address; in IPv6 the network of 64 bits, because one machine may
// have all addresses of such a network.
func NetworkOf(address string) string {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return address
	}
	ip := at.Addr().Unmap()
	if ip.Is4() {
		return ip.String()
	}
	network, _ := ip.Prefix(64) // shorter than any address
	return network.String()
}

// enter admits one more stream of a client; a relay may have more. The error is
// RESOURCE_EXHAUSTED if the client has too many, and UNAVAILABLE if the server has.
func (p *peerLimit) enter(c Peer, relay bool) error {
	key, limit, total := peerKey(c), p.limit, p.total
	if relay {
		limit *= RelayFactor
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !relay && p.many[budgetKey(c)] >= fewStreams {
		total -= total / 4
	}
	switch {
	case p.streams[key] >= limit:
		return status.Errorf(codes.ResourceExhausted, "the limit of %d streams for one client is reached", limit)
	case p.total > 0 && p.all >= total:
		return status.Errorf(codes.Unavailable, "this server has its limit of %d streams; connect to another one", total)
	}
	p.streams[key]++
	p.all++
	if key := budgetKey(c); key != "" {
		p.many[key]++
	}
	return nil
}

// leave is called for each enter that returned no error.
func (p *peerLimit) leave(c Peer) {
	key := peerKey(c)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all--
	if p.streams[key]--; p.streams[key] == 0 {
		delete(p.streams, key)
	}
	if key := budgetKey(c); key != "" {
		if p.many[key]--; p.many[key] == 0 {
			delete(p.many, key)
		}
	}
}
