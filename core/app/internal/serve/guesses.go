package serve

import (
	"net/http"
	"sync"
	"time"

	"github.com/meshmatch/meshmatch/core/xds/server"
)

// maxGuesses is how many wrong tokens of one address are compared in a second.
const maxGuesses = 100

// maxGuessing is how many addresses are remembered at once.
const maxGuessing = 10_000

// guesses limits how often an address may try tokens. An address that has tried too many wrong
// ones gets no answer about a token, right or wrong, until the second is over. The zero value is
// ready to use, and safe for concurrent use.
type guesses struct {
	mu    sync.Mutex
	since time.Time
	wrong map[string]int // since then, by address
}

// mayTry reports whether a token of the request is compared.
func (g *guesses) mayTry(r *http.Request, now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if now.Sub(g.since) >= time.Second {
		g.since, g.wrong = now, map[string]int{}
	}
	return g.wrong[server.NetworkOf(r.RemoteAddr)] < maxGuesses
}

// failed records a wrong token.
func (g *guesses) failed(r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	from := server.NetworkOf(r.RemoteAddr)
	if n, known := g.wrong[from]; known || g.wrong != nil && len(g.wrong) < maxGuessing {
		g.wrong[from] = n + 1
	}
}
