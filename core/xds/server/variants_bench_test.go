package server_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/meshmatch/meshmatch/core/internal/usage"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// BenchmarkStreamVariants changes one resource that many nodes have in four contents, of
// about 1 KiB each, until all streams have got it. With form=variants there is one
// name with four variants, which the streams subscribe by locator. With form=nodes
// each node has a resource of its own, as where a control plane builds it for each. The
// metric sent-B/stream is the same for both: what differs is what is built and marshalled.
func BenchmarkStreamVariants(b *testing.B) {
	for _, streams := range streamNumbers(b) {
		b.Run(fmt.Sprintf("streams=%d", streams), func(b *testing.B) { benchmarkVariants(b, streams) })
	}
}

func benchmarkVariants(b *testing.B, streams int) {
	const contents = 4
	b.Run("form=variants", func(b *testing.B) {
		state := func(n int) *fourVariants {
			var s fourVariants
			for i := range s {
				s[i] = xdstest.Variant(kilobyte("web", n, i), fmt.Sprintf(`{"constraint": {"key": "env", "value": "%d"}}`, i))
			}
			return &s
		}
		source := newSwitching(state(0))
		m := newMemoryServer(b, source)
		for i := range streams {
			m.connectDelta(fmt.Sprintf("n%d", i), &discoveryv3.DeltaDiscoveryRequest{
				TypeUrl: wire.ClusterType.URL(), ResourceLocatorsSubscribe: []*discoveryv3.ResourceLocator{
					{Name: "web", DynamicParameters: map[string]string{"env": fmt.Sprint(i % contents)}},
				},
			})
		}
		benchmarkChanges(b, m, streams, func(n int) { source.publish(state(n)) })
	})
	b.Run("form=nodes", func(b *testing.B) {
		state := func(n int) *ownResources {
			s := &ownResources{}
			for i := range streams {
				s.nodes = append(s.nodes, xdstest.Snapshot(kilobyte("web", n, i%contents)))
			}
			return s
		}
		source := newSwitching(state(0))
		m := newMemoryServer(b, source)
		for i := range streams {
			m.connectDelta(fmt.Sprintf("%d", i), &discoveryv3.DeltaDiscoveryRequest{TypeUrl: wire.ClusterType.URL(), ResourceNamesSubscribe: []string{"web"}})
		}
		benchmarkChanges(b, m, streams, func(n int) { source.publish(state(n)) })
	})
}

// benchmarkChanges measures changes that reach each stream with one response.
func benchmarkChanges(b *testing.B, m *memoryServer, streams int, change func(n int)) {
	m.wait(b, int64(streams))
	b.ReportAllocs()
	cpu, sent := usage.CPU(), m.sent.bytes.Load()
	b.ResetTimer()
	for i := range b.N {
		change(i + 1)
		m.wait(b, int64((i+2)*streams))
	}
	b.StopTimer()
	reportCPU(b, cpu, streams)
	b.ReportMetric(float64(m.sent.bytes.Load()-sent)/float64(b.N*streams), "sent-B/stream")
	m.end()
}

// kilobyte returns a resource of about 1 KiB.
func kilobyte(name string, n, i int) *wire.Resource {
	return xdstest.Resource(wire.ClusterType, name, fmt.Sprintf("%01000d.%d", n, i))
}

// fourVariants is a state with one name. The parameter env chooses.
type fourVariants [4]wire.Variant

func (s *fourVariants) Node(*server.Node) (*wire.Snapshot, bool) { return nil, false }

func (s *fourVariants) Locate(_ *server.Node, _ wire.Type, _ string, parameters map[string]string) (wire.Variant, bool) {
	return s[parameters["env"][0]-'0'], true
}

// ownResources is a state with a snapshot for each node. The id of a node is its index.
type ownResources struct{ nodes []*wire.Snapshot }

func (s *ownResources) Node(n *server.Node) (*wire.Snapshot, bool) {
	i := 0
	for _, digit := range n.ID {
		i = i*10 + int(digit-'0')
	}
	return s.nodes[i], true
}

func (s *ownResources) Locate(*server.Node, wire.Type, string, map[string]string) (wire.Variant, bool) {
	return wire.Variant{}, false
}

// BenchmarkStreamChurn publishes 1,000 changes a second, each of which reaches 1 % of
// the streams. An iteration is one change. The metric behind-ms is the time from the last
// change until the newest state is at every stream: if the server cannot follow, it
// grows with the number of iterations.
func BenchmarkStreamChurn(b *testing.B) {
	for _, streams := range streamNumbers(b) {
		b.Run(fmt.Sprintf("streams=%d", streams), func(b *testing.B) { benchmarkChurn(b, streams) })
	}
}

func benchmarkChurn(b *testing.B, streams int) {
	reached := streams / 100
	state := &ownResources{}
	for range streams {
		state.nodes = append(state.nodes, xdstest.Snapshot(xdstest.Resource(wire.ClusterType, "web", "0")))
	}
	source := newSwitching(state)
	m := newMemoryServer(b, source)
	for i := range streams {
		m.connectDelta(fmt.Sprintf("%d", i), // both types: a node without listeners has not converged
			&discoveryv3.DeltaDiscoveryRequest{TypeUrl: wire.ClusterType.URL()}, &discoveryv3.DeltaDiscoveryRequest{TypeUrl: wire.ListenerType.URL()})
	}
	m.wait(b, int64(2*streams))
	before := m.sent.responses.Load()
	ids := make([]string, streams)
	for i := range ids {
		ids[i] = fmt.Sprint(i)
	}
	b.ReportAllocs()
	cpu := usage.CPU()
	b.ResetTimer()
	next := time.Now()
	for i := range b.N {
		changed := xdstest.Snapshot(xdstest.Resource(wire.ClusterType, "web", fmt.Sprint(i+1)))
		state = &ownResources{nodes: slices.Clone(state.nodes)}
		for k := range reached {
			state.nodes[(i*reached+k)%streams] = changed
		}
		source.publish(state)
		next = next.Add(time.Millisecond)
		time.Sleep(time.Until(next))
	}
	last := time.Now()
	if n, err := m.server.WaitConverged(b.Context(), ids); n != streams || err != nil {
		b.Fatal(n, err)
	}
	b.ReportMetric(float64(time.Since(last).Microseconds())/1000, "behind-ms")
	b.StopTimer()
	b.ReportMetric(float64((usage.CPU()-cpu).Nanoseconds())/float64(b.N), "cpu-ns/change")
	b.ReportMetric(float64(m.sent.responses.Load()-before)/b.Elapsed().Seconds(), "pushes/s")
	m.end()
}
