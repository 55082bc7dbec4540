package serve_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"github.com/meshmatch/meshmatch/core/app/internal/relay"
	"github.com/meshmatch/meshmatch/core/app/internal/serve"
	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
)

// worldSite is where a server runs: 0 and 1 are replicas, 2 is a relay in front of them, and each
// further one is a relay behind the previous one.
type worldSite struct {
	*xdstest.Line
	w       *world
	number  int
	name    string
	relays  serve.RelayOptions
	dialled atomic.Int64

	mu     sync.Mutex
	at     *serve.MemoryListener // nil while nothing runs
	stop   func() error
	ads    *server.Server
	relay  *relay.Relay
	log    serve.LockedBuffer
	health []string // errors of servers that have ended
}

var errDown = errors.New("connection refused")

func (w *world) newSite(i int, seed uint64, random *rand.Rand) *worldSite {
	s := &worldSite{Line: xdstest.NewLine(), w: w, number: i, name: []string{"first replica", "second replica", "first relay", "second relay", "third relay"}[i]}
	if i < 2 {
		return s
	}
	s.relays = serve.RelayOptions{Idle: time.Minute, Dial: []grpc.DialOption{
		xdstest.Delayed(seed<<8|uint64(i), w.longest),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) { return w.siteOf(address).dial(ctx) }),
	}}
	if i == 2 {
		s.relays.Upstreams = []string{"passthrough:0", "passthrough:1"}
	} else {
		s.relays.Upstreams = []string{fmt.Sprint("passthrough:", i-1)}
	}
	if random.IntN(2) == 0 {
		s.relays.State = w.t.TempDir()
	}
	return s
}

// siteOf returns the site of an address.
func (w *world) siteOf(address string) *worldSite {
	for _, s := range w.sites {
		if fmt.Sprint(s.number) == address {
			return s
		}
	}
	return nil
}

// dial connects to the site. A paused site refuses, see [world.dialOnce].
func (s *worldSite) dial(ctx context.Context) (net.Conn, error) {
	s.mu.Lock()
	at := s.at
	s.mu.Unlock()
	if at == nil || s.Paused() {
		return nil, errDown
	}
	conn, err := at.Dial(ctx, fmt.Sprintf("127.0.0.1:%d", 10_000+s.dialled.Add(1)))
	if err != nil {
		return nil, err
	}
	return s.Over(conn)
}

// start starts the server, unless it runs.
func (s *worldSite) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at != nil {
		return
	}
	xds, http := serve.NewMemoryListener(net.IPv4(127, 0, 0, 1)), serve.NewMemoryListener(net.IPv4(127, 0, 0, 1))
	var run func(context.Context) error
	if s.number < 2 {
		o := options("", &s.log)
		o.Files, o.Stores = nil, []source.Store{s.w.store.open(s.number)}
		r, err := serve.New(o)
		if err != nil {
			s.w.t.Fatal(err)
		}
		r.ServeOn(xds, http, nil)
		run, s.ads = r.Run, r.ADS()
	} else {
		o := s.relays
		o.Logger, o.Grace = slog.New(slog.NewTextHandler(&s.log, nil)), time.Second
		r, err := serve.NewRelay(o)
		if err != nil {
			s.w.t.Fatal(err)
		}
		r.ServeOn(xds, http, nil)
		run, s.ads, s.relay = r.Run, r.ADS(), r.Upstream()
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	s.at, s.stop = xds, func() error { cancel(); return <-ended }
}

// end ends the server: it drains, or it is killed, which ends all connections at once.
func (s *worldSite) end(kill bool) {
	s.mu.Lock()
	at, stop := s.at, s.stop
	s.at = nil
	s.mu.Unlock()
	if at == nil {
		return
	}
	if kill {
		_ = at.Close()
		s.Cut()
	}
	s.Resume() // a server that drains waits for its connections
	if err := stop(); err != nil && !kill {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.health = append(s.health, err.Error())
	}
}

// check returns what waits at the site.
func (s *worldSite) check() (problems []string) {
	problems = append(problems, s.health...)
	for _, id := range s.ads.NodeIDs() {
		silent := slices.ContainsFunc(s.w.clients, func(c *worldClient) bool { return c.model.ID == id && c.model.IsSilent() })
		if state := s.ads.NodeState(id); state != server.Converged && (state != server.Silent || !silent) {
			problems = append(problems, fmt.Sprintf("%s is %s: %+v", id, state, s.ads.Silences(id)))
		}
	}
	if s.relay == nil {
		return problems
	}
	if wrong, _ := s.relay.RejectedNames(); len(wrong) > 0 {
		problems = append(problems, fmt.Sprintf("names are wrong: %+v", wrong))
	}
	if !s.relay.Ready() {
		problems = append(problems, "it is not ready")
	}
	return problems
}
