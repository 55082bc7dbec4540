package streams

import (
	"context"
	"slices"
	"sync"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// Names are what a client subscribes to by name.
type Names [wire.NumTypes][]string

// NamesOf returns the names that an Envoy with a snapshot asks for.
func NamesOf(s *wire.Snapshot) (names Names) {
	for t := range s {
		if isWildcard(wire.Type(t)) {
			continue
		}
		for _, r := range s[t].Listed {
			names[t] = append(names[t], r.Name)
		}
	}
	return names
}

func isWildcard(t wire.Type) bool { return t == wire.ClusterType || t == wire.ListenerType }

// order is the order of the first requests of an Envoy.
var order = [...]wire.Type{wire.ClusterType, wire.EndpointType, wire.ListenerType, wire.RouteType, wire.SecretType, wire.ExtensionType}

// A DeltaStream is one delta stream.
type DeltaStream struct {
	stream grpc.ClientStream
	ended  chan struct{}

	mu   sync.Mutex
	held []holding
	got  Got
}

// Got is what a client has got since a time.
type Got struct {
	Responses, Bytes int
	Last             time.Time // when the last response came; zero if none did
}

// A holding is a resource that a client has.
type holding struct{ key, content uint64 }

// Start starts the stream of a node, and asks for everything. The stream ends with the context,
// and calls failed if it ends before.
func Start(ctx context.Context, conn grpc.ClientConnInterface, node string, names *Names, failed func(error)) (*DeltaStream, error) {
	c := &DeltaStream{ended: make(chan struct{})}
	var err error
	if c.stream, err = conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true},
		discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResources_FullMethodName, grpc.ForceCodecV2(receiving)); err != nil {
		return nil, err
	}
	first := &corev3.Node{Id: node, UserAgentName: "envoy"}
	for _, t := range order {
		r := &discoveryv3.DeltaDiscoveryRequest{Node: first, TypeUrl: t.URL(), ResourceNamesSubscribe: names[t]}
		if len(names[t]) == 0 && !isWildcard(t) {
			continue // an empty list would be a wildcard
		}
		if err := c.stream.SendMsg(r); err != nil {
			return nil, err
		}
		first = nil
	}
	go func() {
		defer close(c.ended)
		if err := c.run(); ctx.Err() == nil {
			failed(err)
		}
	}()
	return c, nil
}

// Wait waits until the stream has ended.
func (c *DeltaStream) Wait() { <-c.ended }

func (c *DeltaStream) run() error {
	for {
		var r response
		if err := c.stream.RecvMsg(&r); err != nil {
			return err
		}
		c.apply(&r)
		if err := c.stream.SendMsg(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: r.url, ResponseNonce: r.nonce}); err != nil {
			return err
		}
	}
}

func (c *DeltaStream) apply(r *response) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got.Responses++
	c.got.Bytes += r.bytes
	c.got.Last = time.Now()
	for _, key := range r.removed {
		c.held = slices.DeleteFunc(c.held, func(h holding) bool { return h.key == key })
	}
	for _, h := range r.resources {
		if i := slices.IndexFunc(c.held, func(old holding) bool { return old.key == h.key }); i >= 0 {
			c.held[i] = h
			continue
		}
		c.held = append(c.held, h)
	}
}

// Sum returns the hash of all that the client holds.
func (c *DeltaStream) Sum() (sum uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, h := range c.held {
		sum += h.hash()
	}
	return sum
}

// Got returns what the client has got since the last [DeltaStream.Reset].
func (c *DeltaStream) Got() Got {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.got
}

// Reset makes Got begin anew.
func (c *DeltaStream) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got = Got{}
}
