package relay

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	grpcbackoff "google.golang.org/grpc/backoff"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"github.com/meshmatch/meshmatch/core/xds/server"
)

// Times of the connection to an upstream.
const (
	connectTimeout = 5 * time.Second // then the next upstream is tried
	// If nothing arrives for pingInterval, the upstream is pinged, and if nothing arrives for
	// pingTimeout after that, it is lost. So an upstream that is paused, or whose network drops
	// packets, is lost after 25 s. Package server allows a ping each 10 s.
	pingInterval = 15 * time.Second
	pingTimeout  = 10 * time.Second
	// slowPingInterval is for an upstream that has refused pings: servers of gRPC allow one in
	// five minutes by default.
	slowPingInterval = 6 * time.Minute
	// goAwayTimeout is how long after the announcement of its end a connection may stay: servers
	// of gRPC end it one second later.
	goAwayTimeout = 3 * time.Second
	// maxRefused is how often in a row an upstream may refuse streams while there are others to
	// try. It has no ADS, or does not accept the relay.
	maxRefused = 3
	// silence is how long an upstream may leave subscriptions without a response while there are
	// others to try. It doubles, up to maxSilence, each time that none of them responds.
	silence    = 15 * time.Second
	maxSilence = 5 * time.Minute
)

// follow keeps a connection to the first upstream that responds, until the context ends. When
// it is lost, the upstreams are tried again from the first one.
func (r *Relay) follow(ctx context.Context) {
	var pause backoff
	patience := silence
	last := len(r.options.Upstreams) - 1
	for i := 0; ; {
		switch r.connect(ctx, r.options.Upstreams[i], patience) {
		case lost:
			i, pause, patience = 0, backoff{}, silence
			if !pause.wait(ctx) {
				return
			}
			continue
		case silent:
			patience = min(2*patience, maxSilence)
		}
		if ctx.Err() != nil {
			return
		}
		if i++; i > last {
			i = 0
			if !pause.wait(ctx) {
				return
			}
		}
	}
}

// An end is why an upstream is no longer used.
type end int

const (
	unusable end = iota // it cannot be reached, or has never responded
	silent              // it is connected, and does not respond
	lost                // it has responded
)

// connect uses one upstream until its connection is lost, or it does not respond for too
// long.
func (r *Relay) connect(ctx context.Context, u Upstream, patience time.Duration) end {
	options := append([]grpc.DialOption{
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: r.pingInterval(u.Address), Timeout: pingTimeout}),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: grpcbackoff.DefaultConfig, MinConnectTimeout: connectTimeout}),
		grpc.WithIdleTimeout(0),
		grpc.WithDisableServiceConfig(),
	}, u.Options...)
	conn, err := grpc.NewClient(u.Address, options...)
	if err != nil {
		r.log.Error("an upstream cannot be used", "address", u.Address, "error", err.Error())
		return unusable
	}
	defer conn.Close()
	if !isReady(ctx, conn) {
		if ctx.Err() == nil {
			r.log.Warn("an upstream cannot be reached", "address", u.Address, "error", clip(connectError(ctx, conn), maxLogged))
		}
		return unusable
	}
	var running sync.WaitGroup
	defer endSessions(conn, &running)
	connected, cancel := context.WithCancel(ctx)
	defer cancel()
	before := r.counters.Responses.Load()
	r.mu.Lock()
	var refused atomic.Int64
	r.attach(attached{ctx: ctx, connected: connected, conn: conn, address: u.Address, running: &running, refused: &refused})
	r.mu.Unlock()
	r.log.Info("the upstream is connected", "address", u.Address)
	isLost := r.watch(ctx, conn, patience, &refused)
	cancel() // no session begins after this
	r.mu.Lock()
	unused := r.isUnused()
	r.detach()
	r.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return unusable
	case !isLost:
		r.log.Warn("the upstream does not respond, or refuses streams; the next one is tried", "address", u.Address)
		return silent
	case unused:
		r.log.Info("the upstream has closed a connection that was not used", "address", u.Address)
		return lost
	}
	r.log.Warn("the upstream is lost; what is held stays served", "address", u.Address)
	if r.counters.Responses.Load() == before {
		return unusable
	}
	return lost
}

// endSessions waits for sessions after the connection is lost, or is no longer wanted. The
// streams of a lost connection end by themselves, with its error (see noteRefusedPings),
// and soon.
func endSessions(conn *grpc.ClientConn, running *sync.WaitGroup) {
	ended := make(chan struct{})
	go func() {
		running.Wait()
		close(ended)
	}()
	if conn.GetState() != connectivity.Ready {
		select {
		case <-ended:
		case <-time.After(goAwayTimeout):
		}
	}
	_ = conn.Close()
	<-ended
}

// isUnused reports whether the upstream has no stream because no client needs one. It is called
// with r.mu.
func (r *Relay) isUnused() bool {
	if r.options.Mode == Locators {
		return false
	}
	for _, n := range r.nodes {
		if n.stop != nil {
			return false
		}
	}
	return true
}

// pingInterval returns after what time without data an upstream is pinged.
func (r *Relay) pingInterval(address string) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.slowPings[address] {
		return slowPingInterval
	}
	return pingInterval
}

// noteRefusedPings makes pings rare if the error of a stream is that the upstream refuses
// them. The text is the debug data that the specification of gRPC's keepalive prescribes.
func (r *Relay) noteRefusedPings(address string, err error) {
	if !strings.Contains(err.Error(), "too_many_pings") {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.slowPings[address] {
		r.slowPings[address] = true
		r.log.Warn("the upstream refuses pings, so they are rare from now on; if it is paused, this is found late",
			"address", address, "after", (slowPingInterval + pingTimeout).String())
	}
}

// isReady waits for a connection.
func isReady(ctx context.Context, conn *grpc.ClientConn) bool {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	for conn.Connect(); ; {
		state := conn.GetState()
		if state == connectivity.Ready || state == connectivity.TransientFailure || !conn.WaitForStateChange(ctx, state) {
			return state == connectivity.Ready
		}
	}
}

// connectError returns why a connection is not ready. gRPC reports it to streams only.
func connectError(ctx context.Context, conn *grpc.ClientConn) string {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout/10)
	defer cancel()
	if _, err := discoveryv3.NewAggregatedDiscoveryServiceClient(conn).DeltaAggregatedResources(ctx); err != nil {
		return status.Convert(err).Message()
	}
	return ""
}

// watch waits until a connection is lost, or does not respond and there is another upstream. It
// reports whether the connection is lost.
func (r *Relay) watch(ctx context.Context, conn *grpc.ClientConn, patience time.Duration, refused *atomic.Int64) (isLost bool) {
	begin := r.clock.Load()
	for conn.GetState() == connectivity.Ready {
		within, cancel := context.WithTimeout(ctx, time.Second)
		conn.WaitForStateChange(within, connectivity.Ready)
		cancel()
		if ctx.Err() != nil {
			return false
		}
		if len(r.options.Upstreams) > 1 && (refused.Load() >= maxRefused || r.isSilent(begin, int64(patience/time.Second))) {
			return false
		}
	}
	return true
}

// isSilent reports whether the upstream has sent no response for some seconds, although one is
// missing. Begin is when it was connected, as Relay.clock.
//
// Servers respond to every locator. Some do not respond to names of nodes that do not exist.
// So subscriptions of nodes are a reason only if the upstream has sent no response at all.
func (r *Relay) isSilent(begin, seconds int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.clock.Load()-max(begin, r.lastResponse) < seconds {
		return false
	}
	for _, n := range r.names {
		for _, sub := range n.subscriptions {
			if sub.requested && sub.verdict == server.Unknown {
				return true
			}
		}
	}
	if r.lastResponse >= begin {
		return false
	}
	for _, n := range r.nodes {
		for t := range n.types {
			if of := &n.types[t]; of.begun && of.responded == 0 {
				return true
			}
		}
	}
	return false
}
