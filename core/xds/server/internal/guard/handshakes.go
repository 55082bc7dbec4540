package guard

import (
	"net"
	"runtime"
	"sync"
	"time"
)

// HandshakeTimeout is how long a connection may take until it can have streams. The time
// that it waits for the server to begin its handshake is not included.
const HandshakeTimeout = 10 * time.Second

// handshakes limits the TLS handshakes that are computed at a time to one for each
// processor. If 10,000 clients connect at once, each handshake takes about as long as it
// does alone. Existing streams wait for a few of them only. Without the limit all of them
// advance together, none ends before its deadline, and all begin again.
//
// A handshake has its turn while it computes, and gives it away while it waits for its
// client. So a client that sends nothing holds no turn. Those that have begun go first, so
// that few are unfinished; the others go in the order in which their first bytes came.
type handshakes struct {
	limit int

	mu           sync.Mutex
	turns        int // given
	begun, fresh []chan<- struct{}
}

func (h *handshakes) init() { h.limit = runtime.GOMAXPROCS(0) }

// enter waits for a turn. Each enter needs a leave.
func (h *handshakes) enter(begun bool) {
	h.mu.Lock()
	if h.turns < h.limit {
		h.turns++
		h.mu.Unlock()
		return
	}
	turn := make(chan struct{})
	if begun {
		h.begun = append(h.begun, turn)
	} else {
		h.fresh = append(h.fresh, turn)
	}
	h.mu.Unlock()
	<-turn
}

// leave passes the turn on.
func (h *handshakes) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, queue := range []*[]chan<- struct{}{&h.begun, &h.fresh} {
		if waiting := *queue; len(waiting) > 0 {
			close(waiting[0])
			if *queue = waiting[1:]; len(waiting) == 1 {
				*queue = nil
			}
			return
		}
	}
	h.turns--
}

// A handshakeConn is a connection during its handshake, and then only passes reads on.
type handshakeConn struct {
	net.Conn
	all *handshakes
	// The following are used by the goroutine of the handshake, and then read.
	begun, turn, ended bool
}

// Read implements net.Conn.
func (c *handshakeConn) Read(b []byte) (int, error) {
	if c.ended {
		return c.Conn.Read(b)
	}
	c.leave()
	n, err := c.Conn.Read(b)
	if n == 0 {
		return n, err
	}
	c.all.enter(c.begun)
	c.turn = true
	if !c.begun {
		c.begun = true
		_ = c.Conn.SetDeadline(time.Now().Add(HandshakeTimeout))
	}
	return n, err
}

func (c *handshakeConn) leave() {
	if c.turn {
		c.turn = false
		c.all.leave()
	}
}

// end is called after the handshake.
func (c *handshakeConn) end() {
	c.leave()
	c.ended = true
}
