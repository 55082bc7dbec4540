package replicas

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// endpointsName is the resource with the addresses of all dataplanes of a state, and
// clusterName the one with its timeout.
const endpointsName, clusterName = "default/web", "default/web"

// subscriber is the proxy of [client]. It connects again whenever its stream ends: to the
// next of its replicas.
type subscriber struct {
	name     string
	node     string
	replicas []*replica
	sotw     bool
	secrets  bool               // subscribes the certificate and the CAs of the proxy
	got      func(xdstest.Held) // is called with each resource, which is then not recorded; nil: all responses are recorded
	stop     func()

	mu      sync.Mutex
	current *xdstest.Client
	ended   []*xdstest.Client
	streams int
}

// subscribe starts a subscriber. It ends with the test.
func subscribe(t testing.TB, name, node string, sotw bool, replicas ...*replica) *subscriber {
	s := &subscriber{name: name, node: node, replicas: replicas, sotw: sotw}
	s.start(t)
	return s
}

func (s *subscriber) start(t testing.TB) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	s.stop = sync.OnceFunc(func() { cancel(); <-done })
	t.Cleanup(s.stop)
	go func() {
		defer close(done)
		for i := 0; ctx.Err() == nil; i++ {
			s.connect(ctx, s.replicas[i%len(s.replicas)])
			select {
			case <-time.After(50 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	}()
}

// connect has one stream of a replica until it ends.
func (s *subscriber) connect(ctx context.Context, r *replica) {
	conn, err := grpc.NewClient(r.xds, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithConnectParams(grpc.ConnectParams{
		Backoff: backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.2, MaxDelay: 200 * time.Millisecond}, MinConnectTimeout: time.Second,
	}))
	if err != nil {
		return
	}
	defer conn.Close()
	s.mu.Lock()
	old := s.current
	s.mu.Unlock()
	options := xdstest.Options{StateOfTheWorld: s.sotw, Resume: old, Node: &corev3.Node{Id: s.node, UserAgentName: "envoy"}}
	if s.got != nil {
		options.Forget = true
		options.Reject = func(h xdstest.Held) string { s.got(h); return "" }
	}
	c, err := xdstest.New(ctx, conn, options)
	if err != nil {
		return
	}
	s.mu.Lock()
	if old != nil {
		s.ended = append(s.ended, old)
	}
	s.current = c
	s.streams++
	s.mu.Unlock()
	if old == nil {
		_ = c.Wildcard(wire.ClusterType) // an error ends the stream
		_ = c.Wildcard(wire.ListenerType)
		_ = c.Subscribe(wire.EndpointType, endpointsName)
		if s.secrets {
			_ = c.Subscribe(wire.SecretType, message.IdentitySecret, message.TrustSecret)
		}
	}
	c.Wait(ctx, func() bool { return c.Err() != nil })
	c.Close()
}

// held returns the body of a resource that the subscriber holds.
func (s *subscriber) held(t wire.Type, name string) string {
	s.mu.Lock()
	c := s.current
	s.mu.Unlock()
	if c == nil {
		return ""
	}
	return c.Named(t)[name].Body
}

// all returns what the subscriber holds, as a text that can be compared.
func (s *subscriber) all() string {
	s.mu.Lock()
	c := s.current
	s.mu.Unlock()
	if c == nil {
		return ""
	}
	var lines []string
	for _, t := range []wire.Type{wire.ClusterType, wire.ListenerType, wire.EndpointType} {
		for name, h := range c.Named(t) {
			lines = append(lines, fmt.Sprintf("%v %s %x", t, name, h.Body))
		}
	}
	slices.Sort(lines)
	return fmt.Sprint(lines)
}

// responses returns the responses of all streams, each with its stream's ones in order.
func (s *subscriber) responses() [][]xdstest.Response {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all [][]xdstest.Response
	for _, c := range s.ended {
		all = append(all, c.Responses())
	}
	if s.current != nil {
		all = append(all, s.current.Responses())
	}
	return all
}
