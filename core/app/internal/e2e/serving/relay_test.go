package serving

import (
	"io"
	"net"
	"sync"

	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
)

// A relay is one address in front of the replicas of a server, as a load balancer has.
type relay struct {
	listener net.Listener

	mu   sync.Mutex
	to   string
	open map[net.Conn]bool
}

// startRelay starts a relay until the test ends.
func (m *mesh) startRelay(address, to string) *relay {
	m.t.Helper()
	listener, err := envoytest.Listen(m.network.Replace(address))
	if err != nil {
		m.t.Fatal(err)
	}
	r := &relay{listener: listener, to: m.network.Replace(to), open: map[net.Conn]bool{}}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { r.pass(client) })
		}
	})
	m.t.Cleanup(func() {
		_ = listener.Close()
		r.use("")
		running.Wait()
	})
	return r
}

// use ends all connections. New ones go to another address.
func (r *relay) use(address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.to = address
	for c := range r.open {
		_ = c.Close()
	}
}

// pass copies the bytes of one connection in both directions until either side ends.
func (r *relay) pass(client net.Conn) {
	defer client.Close()
	r.mu.Lock()
	to := r.to
	r.mu.Unlock()
	server, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer server.Close()
	if !r.begin(to, client) {
		return
	}
	defer r.end(client)
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	_, _ = io.Copy(client, server)
}

// begin adds a connection unless the address was changed meanwhile.
func (r *relay) begin(to string, c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.to == to {
		r.open[c] = true
	}
	return r.to == to
}

func (r *relay) end(c net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, c)
}
