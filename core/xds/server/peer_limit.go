package server

import (
	"net"
	"sync"
)

// A peerLimit limits the streams of each client, by identity, or by host of the
// network address if there is none.
type peerLimit struct {
	limit   int
	mu      sync.Mutex
	streams map[string]int
}

func (p *peerLimit) init(limit int) { p.limit, p.streams = limit, map[string]int{} }

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

// enter reports whether the client may have one more stream, with so many times the limit.
func (p *peerLimit) enter(c *Client, factor int) bool {
	key := peerKey(c)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.streams[key] >= p.limit*factor {
		return false
	}
	p.streams[key]++
	return true
}

// leave is called for each enter that returned true.
func (p *peerLimit) leave(c *Client) {
	key := peerKey(c)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.streams[key]--; p.streams[key] == 0 {
		delete(p.streams, key)
	}
}
