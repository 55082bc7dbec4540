package server

import (
	"context"
	"strings"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"
)

var errDraining = status.Error(codes.Unavailable, "the server is shutting down; connect again")

const servicePrefix = "/envoy.service.discovery.v3.AggregatedDiscoveryService/"

// drain ends all streams at once. A handler waits in Recv, which returns when the
// context of the stream ends. That context is made by gRPC before the handler runs,
// and the tap is where it can be replaced. So no stream needs a second goroutine.
type drain struct {
	mu   sync.Mutex
	done chan struct{}
}

func (d *drain) init() { d.done = make(chan struct{}) }

// begin makes ended return true. It reports whether it is the first call.
func (d *drain) begin() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended() {
		return false
	}
	close(d.done)
	return true
}

// ended reports whether begin was called.
func (d *drain) ended() bool {
	select {
	case <-d.done:
		return true
	default:
		return false
	}
}

// cancelKey is the key of the function that cancels a stream, in its context.
type cancelKey struct{}

// tap implements tap.ServerInHandle.
func (d *drain) tap(ctx context.Context, info *tap.Info) (context.Context, error) {
	if !strings.HasPrefix(info.FullMethodName, servicePrefix) {
		return ctx, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	return context.WithValue(ctx, cancelKey{}, cancel), nil
}

// cancelOf returns the function that cancels a stream, or nil if the gRPC server does
// not have the options of Server.GRPCOptions.
func cancelOf(ctx context.Context) func() {
	cancel, _ := ctx.Value(cancelKey{}).(context.CancelFunc)
	return cancel
}

// Drain ends all streams with UNAVAILABLE and a message, and refuses new ones. It
// returns at once; grpc.Server.GracefulStop then waits until the clients have been
// told. Streams of a gRPC server without the options of [Server.GRPCOptions] end with
// grpc.Server.Stop only.
func (s *Server) Drain() {
	if !s.drain.begin() {
		return
	}
	s.streams.each(func(st *stream) {
		if st.cancel != nil {
			st.cancel()
		}
	})
}
