package relay_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/meshmatch/meshmatch/core/app/internal/relay"
	"github.com/meshmatch/meshmatch/core/internal/usage"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

var clientsFlag = flag.String("clients", "1000", "the numbers of clients of BenchmarkStreamRelay")

// BenchmarkStreamRelay changes one of 20 variants of a name that many clients have by locator,
// each with parameters of its own, until all of the variant's clients have it. With
// via=direct they are clients of the upstream, with via=relay of a relay. Streams are those
// of gRPC, in memory, in one process with both servers and the clients.
//
// The metrics of the upstream are exact: up-streams, up-locators, up-sends/op, up-B/op.
// cpu-us/client is the time of all processors, clients included, for each client that is
// connected; push-p50-ms is the time until half of those that get the change have it.
// heap-B/client includes the client.
func BenchmarkStreamRelay(b *testing.B) {
	for text := range strings.SplitSeq(*clientsFlag, ",") {
		clients, err := strconv.Atoi(text)
		must(b, err)
		for _, via := range []string{"direct", "relay"} {
			b.Run(fmt.Sprintf("clients=%d/via=%s", clients, via), func(b *testing.B) { benchmarkRelay(b, clients, via == "relay") })
		}
	}
}

const benchVariants = 20

// A benchSource publishes states that choose a variant by one parameter, at no cost.
type benchSource struct{ current atomic.Pointer[benchState] }

type benchState struct {
	variants   map[string]wire.Variant
	superseded chan struct{}
}

func (s *benchSource) Current() (server.State, <-chan struct{}) {
	state := s.current.Load()
	return state, state.superseded
}

func (s *benchState) Node(*server.Node) (*wire.Snapshot, bool) { return nil, false }

func (s *benchState) Locate(_ *server.Node, _ wire.Type, _ string, p map[string]string) (wire.Variant, bool) {
	v, ok := s.variants[p["env"]]
	return v, ok
}

func benchmarkRelay(b *testing.B, clients int, relayed bool) {
	content := make([]string, benchVariants)
	for i := range content {
		content[i] = fmt.Sprintf("%d-first-%01000d", i, 0)
	}
	var constraints []string
	for i := range benchVariants {
		constraints = append(constraints, xdstest.Variant(web(""), equal("env", fmt.Sprint(i))).Constraints)
	}
	source := &benchSource{}
	publish := func() {
		next := &benchState{superseded: make(chan struct{}), variants: map[string]wire.Variant{}}
		for i, c := range content {
			next.variants[fmt.Sprint(i)] = wire.Variant{Resource: web(c), Constraints: constraints[i]}
		}
		if before := source.current.Swap(next); before != nil {
			close(before.superseded)
		}
	}
	publish()
	at := newSite(b, "upstream")
	upstream := at.serve(server.Options{Source: source, MaxSubscriptions: 1 << 20})
	serving := upstream
	if relayed {
		serving = newSite(b, "relay").relay(relay.Options{Upstreams: []relay.Upstream{at.upstream()}}, func(o *server.Options) { o.MaxSubscriptions = 1 << 20 }).running
	}
	before := usage.Heap()

	var got atomic.Int64
	var mu sync.Mutex
	var times []time.Duration
	var begin time.Time
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	const perConnection = 500
	var service discoveryv3.AggregatedDiscoveryServiceClient
	for i := range clients {
		if i%perConnection == 0 {
			service = discoveryv3.NewAggregatedDiscoveryServiceClient(ready(serving.site.conn()))
		}
		stream, err := service.DeltaAggregatedResources(ctx)
		must(b, err)
		must(b, stream.Send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: wire.ClusterType.URL(), ResourceLocatorsSubscribe: []*discoveryv3.ResourceLocator{
			{Name: "web", DynamicParameters: map[string]string{"env": fmt.Sprint(i % benchVariants), "client": fmt.Sprint(i), "zone": "a"}},
		}}))
		running.Go(func() {
			for {
				m, err := stream.Recv()
				if err != nil {
					return
				}
				mu.Lock()
				times = append(times, time.Since(begin))
				mu.Unlock()
				got.Add(int64(len(m.Resources)))
				_ = stream.Send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: m.TypeUrl, ResponseNonce: m.Nonce})
			}
		})
	}
	wait := func(n int64) {
		for got.Load() < n {
			time.Sleep(100 * time.Microsecond)
		}
	}
	wait(int64(clients))
	perClient := (usage.Heap() - before) / float64(clients)
	affected := clients / benchVariants
	time.Sleep(100 * time.Millisecond) // ACKs
	streams, locators := upstream.streams(), upstream.subscriptions(wire.ClusterType)
	sends, bytes := upstream.pushes(wire.ClusterType), upstream.Counters().PushBytes[wire.ClusterType].Load()
	cpu := usage.CPU()
	var medians []time.Duration
	b.ResetTimer()
	for i := range b.N {
		content[i%benchVariants] = fmt.Sprintf("%d-%d-%01000d", i%benchVariants, i, 0)
		mu.Lock()
		times, begin = times[:0], time.Now()
		mu.Unlock()
		publish()
		wait(int64(clients + (i+1)*affected))
		mu.Lock()
		slices.Sort(times)
		medians = append(medians, times[len(times)/2])
		mu.Unlock()
	}
	b.StopTimer()
	slices.Sort(medians)
	n := float64(b.N)
	b.ReportMetric(float64((usage.CPU()-cpu).Microseconds())/n/float64(clients), "cpu-us/client")
	b.ReportMetric(float64(medians[len(medians)/2].Microseconds())/1000, "push-p50-ms")
	b.ReportMetric(float64(upstream.pushes(wire.ClusterType)-sends)/n, "up-sends/op")
	b.ReportMetric(float64(upstream.Counters().PushBytes[wire.ClusterType].Load()-bytes)/n, "up-B/op")
	b.ReportMetric(float64(streams), "up-streams")
	b.ReportMetric(float64(locators), "up-locators")
	b.ReportMetric(perClient, "heap-B/client")
	if relayed && (streams != 1 || locators != benchVariants) {
		b.Errorf("behind the relay the upstream has %d streams and %d locators", streams, locators)
	}
}
