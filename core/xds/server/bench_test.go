package server_test

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"

	"github.com/meshmatch/meshmatch/core/internal/usage"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// wait waits until so many responses have been sent since the start.
func (m *memoryServer) wait(b testing.TB, responses int64) {
	for m.sent.responses.Load() < responses {
		if err := b.Context().Err(); err != nil {
			b.Fatalf("%d responses of %d: %v", m.sent.responses.Load(), responses, err)
		}
		time.Sleep(50 * time.Microsecond)
	}
}

// reportCPU reports the processor time of this process since a time, for each stream
// of each iteration. Other processes and pauses are not in it.
func reportCPU(b *testing.B, since time.Duration, streams int) {
	b.ReportMetric(float64((usage.CPU()-since).Nanoseconds())/float64(b.N*streams), "cpu-ns/stream")
}

// fleet is a state in which all nodes have the same snapshot: 50 clusters with their
// endpoints, 4 listeners and 4 routes. Of go-control-plane's caches it is the best
// case: its snapshot is built once for all nodes too.
type fleet struct{ snapshot *wire.Snapshot }

func (f *fleet) Node(*server.Node) (*wire.Snapshot, bool) { return f.snapshot, true }

func (f *fleet) Locate(*server.Node, wire.Type, string, map[string]string) (wire.Variant, bool) {
	return wire.Variant{}, false
}

// newFleet returns the fleet after so many changes of one cluster.
func newFleet(before *fleet, changes int) *fleet {
	if before == nil {
		var resources []*wire.Resource
		for i := range 50 {
			name := fmt.Sprintf("default/service-%02d", i)
			resources = append(resources, xdstest.Resource(wire.ClusterType, name, "1"), xdstest.Resource(wire.EndpointType, name, "1"))
		}
		for i := range 4 {
			name := fmt.Sprintf("inbound/10.0.0.1/%d", 80+i)
			resources = append(resources, xdstest.Resource(wire.ListenerType, name, "1"), xdstest.Resource(wire.RouteType, name, "1"))
		}
		return &fleet{xdstest.Snapshot(resources...)}
	}
	snapshot := *before.snapshot
	clusters := append([]*wire.Resource(nil), snapshot[wire.ClusterType].Listed...)
	clusters[7] = xdstest.Resource(wire.ClusterType, clusters[7].Name, fmt.Sprint(changes))
	snapshot[wire.ClusterType].Listed = clusters
	return &fleet{&snapshot}
}

func (f *fleet) names() map[wire.Type][]string {
	names := map[wire.Type][]string{}
	for _, k := range []wire.Type{wire.EndpointType, wire.RouteType} {
		for _, r := range f.snapshot[k].Listed {
			names[k] = append(names[k], r.Name)
		}
	}
	return names
}

// switching is a source of states of any kind.
type switching struct {
	current atomic.Pointer[switched]
}

type switched struct {
	state   server.State
	changed chan struct{}
}

func newSwitching(state server.State) *switching {
	s := &switching{}
	s.current.Store(&switched{state, make(chan struct{})})
	return s
}

func (s *switching) Current() (server.State, <-chan struct{}) {
	c := s.current.Load()
	return c.state, c.changed
}

func (s *switching) publish(state server.State) {
	close(s.current.Swap(&switched{state, make(chan struct{})}).changed)
}

// contender is a server under test: connect starts the streams, and change changes one
// cluster of all nodes, which leads to so many responses on each stream.
type contender struct {
	*memoryServer
	change    func(n int)
	responses int
}

func newContender(b testing.TB, impl string, streams int) (contender, *fleet) {
	first := newFleet(nil, 0)
	if impl == "meshmatch" {
		source := newSwitching(first)
		last := first
		const clustersAndEndpoints = 2 // see warming.go
		return contender{newMemoryServer(b, source), func(n int) {
			last = newFleet(last, n)
			source.publish(last)
		}, clustersAndEndpoints}, first
	}
	cache := cachev3.NewSnapshotCache(true, cachev3.IDHash{}, nil)
	last := first
	set := func(n int) {
		snapshot := peerSnapshot(b, fmt.Sprint(n), last.snapshot)
		for i := range streams {
			if err := cache.SetSnapshot(context.Background(), fmt.Sprintf("n%d", i), snapshot); err != nil {
				b.Fatal(err)
			}
		}
	}
	set(-1)
	return contender{newMemoryPeer(b, cache), func(n int) {
		last = newFleet(last, n)
		set(n)
	}, 1}, first
}

// make bench-streams measures with 10,000 streams too, which takes minutes.
var streamsFlag = flag.String("streams", "1000", "numbers of streams of the benchmarks, with commas between them")

func streamNumbers(b *testing.B) []int {
	var numbers []int
	for text := range strings.SplitSeq(*streamsFlag, ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			b.Fatal(err)
		}
		numbers = append(numbers, n)
	}
	return numbers
}

// forContenders runs a benchmark for both servers, protocols and numbers of streams.
func forContenders(b *testing.B, run func(b *testing.B, protocol string, streams int, impl string)) {
	for _, protocol := range []string{"delta", "sotw"} {
		for _, streams := range streamNumbers(b) {
			for _, impl := range []string{"meshmatch", "go-control-plane"} {
				b.Run(fmt.Sprintf("protocol=%s/streams=%d/impl=%s", protocol, streams, impl), func(b *testing.B) {
					run(b, protocol, streams, impl)
				})
			}
		}
	}
}

// BenchmarkStreamChange changes one cluster of all nodes, until all streams have got it.
// This server sends the endpoints of the cluster after it (see warming.go). So its figures
// are for two responses for each stream, and the peer's are for one.
func BenchmarkStreamChange(b *testing.B) {
	forContenders(b, func(b *testing.B, protocol string, streams int, impl string) {
		c, fleet := newContender(b, impl, streams)
		c.connect(b, protocol, streams, fleet.names())
		sent := c.sent.responses.Load()
		changes := 0
		change := func() {
			changes++
			c.change(changes + 1) // the first content is 1
			c.wait(b, sent+int64(changes*streams*c.responses))
		}
		change() // the first one makes stacks and buffers that are used again
		runtime.GC()
		b.ReportAllocs()
		cpu := usage.CPU()
		b.ResetTimer()
		for range b.N {
			change()
		}
		b.StopTimer()
		reportCPU(b, cpu, streams)
		c.end()
	})
}

// BenchmarkStreamConnect connects all streams, until they have all resources of four types.
func BenchmarkStreamConnect(b *testing.B) {
	forContenders(b, func(b *testing.B, protocol string, streams int, impl string) {
		b.ReportAllocs()
		var cpu time.Duration
		for range b.N {
			b.StopTimer()
			c, fleet := newContender(b, impl, streams)
			names := fleet.names()
			cpu -= usage.CPU()
			b.StartTimer()
			c.connect(b, protocol, streams, names)
			b.StopTimer()
			cpu += usage.CPU()
			c.end()
			b.StartTimer()
		}
		reportCPU(b, usage.CPU()-cpu, streams)
	})
}

// BenchmarkStreamMemory measures the memory of a stream with four types, which has got all
// resources: heap and stacks, beyond those of the memory streams, which an echo has
// too.
func BenchmarkStreamMemory(b *testing.B) {
	forContenders(b, func(b *testing.B, protocol string, streams int, impl string) {
		for range b.N {
			c, fleet := newContender(b, impl, streams)
			names := fleet.names()
			measure := func(m *memoryServer) float64 {
				before := usage.Memory()
				m.connect(b, protocol, streams, names)
				after := usage.Memory()
				m.end()
				return after - before
			}
			own := measure(&memoryServer{service: echo{}, codec: encoding.GetCodecV2(proto.Name)})
			b.ReportMetric((measure(c.memoryServer)-own)/float64(streams), "B/stream")
		}
	})
}

// echo answers each request with an empty response, and keeps nothing.
type echo struct {
	discoveryv3.UnimplementedAggregatedDiscoveryServiceServer
}

func (echo) DeltaAggregatedResources(s discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResourcesServer) error {
	for {
		r, err := s.Recv()
		if err != nil {
			return err
		}
		if r.GetResponseNonce() == "" {
			if err := s.Send(&discoveryv3.DeltaDiscoveryResponse{TypeUrl: r.GetTypeUrl(), Nonce: "1"}); err != nil {
				return err
			}
		}
	}
}

func (echo) StreamAggregatedResources(s discoveryv3.AggregatedDiscoveryService_StreamAggregatedResourcesServer) error {
	for {
		r, err := s.Recv()
		if err != nil {
			return err
		}
		if r.GetResponseNonce() == "" {
			if err := s.Send(&discoveryv3.DiscoveryResponse{TypeUrl: r.GetTypeUrl(), Nonce: "1"}); err != nil {
				return err
			}
		}
	}
}
