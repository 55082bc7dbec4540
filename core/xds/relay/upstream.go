package relay

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc"
	grpcbackoff "google.golang.org/grpc/backoff"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/keepalive"
)

// Times of the connection to an upstream.
const (
	connectTimeout = 5 * time.Second // then the next upstream is tried
	pingInterval   = 5 * time.Minute // the least that servers of gRPC allow by default
	// silence is how long an upstream may leave all questions without an answer while there
	// are others to try.
	silence = 15 // seconds
)

// follow keeps a connection to the first upstream that answers, until the context ends. When
// it is lost, the upstreams are tried again from the first one.
func (r *Relay) follow(ctx context.Context) {
	var pause backoff
	for i := 0; ctx.Err() == nil; i++ {
		upstream := r.options.Upstreams[i%len(r.options.Upstreams)]
		if r.connect(ctx, upstream) {
			i, pause = -1, backoff{}
		}
		if i < 0 || i%len(r.options.Upstreams) == len(r.options.Upstreams)-1 {
			if !pause.wait(ctx) {
				return
			}
		}
	}
}

// connect uses one upstream until its connection is lost, and reports whether it answered.
func (r *Relay) connect(ctx context.Context, u Upstream) (answered bool) {
	options := append([]grpc.DialOption{
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: pingInterval, Timeout: 10 * time.Second}),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: grpcbackoff.DefaultConfig, MinConnectTimeout: connectTimeout}),
		grpc.WithIdleTimeout(0),
		grpc.WithDisableServiceConfig(),
	}, u.Options...)
	conn, err := grpc.NewClient(u.Address, options...)
	if err != nil {
		r.log.Error("an upstream cannot be used", "address", u.Address, "error", err.Error())
		return false
	}
	defer conn.Close()
	if !isReady(ctx, conn) {
		if ctx.Err() == nil {
			r.log.Warn("an upstream cannot be reached", "address", u.Address)
		}
		return false
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	before := r.counters.Responses.Load()
	r.mu.Lock()
	r.attach(ctx, conn, u.Address, &running)
	r.mu.Unlock()
	r.log.Info("the upstream is connected", "address", u.Address)
	r.watch(ctx, conn)
	ended := ctx.Err() != nil
	cancel() // no session begins after this
	answered = r.counters.Responses.Load() > before
	r.mu.Lock()
	r.detach()
	r.mu.Unlock()
	if !ended {
		r.log.Warn("the upstream is lost; what is held stays served", "address", u.Address)
	}
	return answered
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

// watch waits until a connection is lost, or is of no use and there is another upstream.
func (r *Relay) watch(ctx context.Context, conn *grpc.ClientConn) {
	begin := r.clock.Load()
	for conn.GetState() == connectivity.Ready {
		within, cancel := context.WithTimeout(ctx, time.Second)
		conn.WaitForStateChange(within, connectivity.Ready)
		cancel()
		if ctx.Err() != nil {
			return
		}
		if len(r.options.Upstreams) > 1 && r.isSilent(begin) {
			r.log.Warn("the upstream does not answer; the next one is tried")
			return
		}
	}
}
