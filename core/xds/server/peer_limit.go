package server

import (
	"net"
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
}

func (p *peerLimit) init(limit, total int) {
	p.limit, p.total, p.streams = limit, total, map[string]int{}
}

func peerKey(c *Client) string {
	if c.Identity != "" {
		return c.Identity
	}
	host, _, err := net.SplitHostPort(c.Address)
	if err != nil {
		return c.Address
	}
	return host
}

// enter admits one more stream of a client, with so many times the limit. The error is
// RESOURCE_EXHAUSTED if the client has too many, and UNAVAILABLE if the server has.
func (p *peerLimit) enter(c *Client, factor int) error {
	key := peerKey(c)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.streams[key] >= p.limit*factor:
		return status.Errorf(codes.ResourceExhausted, "the limit of %d streams for one client is reached", p.limit*factor)
	case p.total > 0 && p.all >= p.total:
		return status.Errorf(codes.Unavailable, "this server has its limit of %d streams; connect to another one", p.total)
	}
	p.streams[key]++
	p.all++
	return nil
}

// leave is called for each enter that returned no error.
func (p *peerLimit) leave(c *Client) {
	key := peerKey(c)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all--
	if p.streams[key]--; p.streams[key] == 0 {
		delete(p.streams, key)
	}
}
