package relay_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// BenchmarkStreamRelayProcess measures upstreams and a relay that are processes of their own,
// with streams over TCP, while the clients and the benchmark are another one on the same
// processors. One upstream has its clients directly, and another equal one through the relay:
// each has a name in 20 variants, with the same number of clients. So both are measured in one
// run, alternately.
//
// change: an iteration changes a variant at each upstream, one after the other, until all of
// its clients have it.
//
//	direct-up-us/op, relay-up-us/op  processor time of the upstream for a change that goes to
//	                                 clients directly, or through the relay
//	relay-us/conn                    processor time of the relay for each of its clients
//	relay-us/push                    the same for each client that gets the change
//	direct-p50-ms, relay-p50-ms      from the change until half of these clients have it
//	adds-p50-ms                      the median of the differences of both, with its interval
//	                                 of 95 % in adds-low-ms and adds-high-ms
//
// memory: heap and stacks for each client, in B/client, of the relay (relay-), and of a
// server of gRPC that only holds streams of the same kind (bare-). Beyond-B/client is the
// difference.
//
// restart=upstream: an iteration kills the upstream and starts another one. Up-B/op are what
// it sends to the relay, and sends/op what the relay sends to its clients, until both have all
// that is there. restart=relay: an iteration ends the relay, starts another one with the same
// directory, and all clients resume. Client-B/op are the bytes of what clients are sent.
func BenchmarkStreamRelayProcess(b *testing.B) {
	for text := range strings.SplitSeq(*clientsFlag, ",") {
		clients, err := strconv.Atoi(text)
		must(b, err)
		b.Run("clients="+text, func(b *testing.B) {
			d := newDeployment(b, clients)
			b.Run("memory", d.benchmarkMemory)
			d.direct = d.open(d.apart.address, nil)
			d.relayed = d.open(d.relay.address, nil)
			b.Run("change", d.benchmarkChange)
			b.Run("restart=upstream", d.benchmarkUpstream)
			b.Run("restart=relay", d.benchmarkRelay)
		})
	}
}

const benchName = "web"

// A deployment is the processes and the clients.
type deployment struct {
	b       *testing.B
	clients int // of each side
	// apart has its clients directly, upstream through the relay.
	apart, upstream, relay *process
	direct, relayed        *streams
}

func newDeployment(b *testing.B, clients int) *deployment {
	d := &deployment{b: b, clients: clients}
	startUpstream := func() *process {
		var contents []string
		for i := range benchVariants {
			contents = append(contents, fmt.Sprintf("%d-first-%01000d", i, 0))
		}
		return part{Role: "upstream", Address: "127.0.0.1:0", Contents: map[string][]string{benchName: contents}}.start(b)
	}
	d.apart, d.upstream = startUpstream(), startUpstream()
	d.relay = part{Role: "relay", Address: "127.0.0.1:0", Upstream: d.upstream.address, State: b.TempDir()}.start(b)
	return d
}

// change changes a variant at an upstream, and waits until its clients have it.
func (d *deployment) change(at *process, of *streams) (p50 time.Duration) {
	contents := at.part.Contents[benchName]
	i := at.changes % benchVariants
	at.changes++
	contents[i] = fmt.Sprintf("%d-%d-%01000d", i, at.changes, 0)
	affected := (d.clients-i-1)/benchVariants + 1
	done := of.expect(affected)
	at.do("change %s %d %s", benchName, i, contents[i])
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		d.b.Fatal("a change does not reach its clients")
	}
	return of.median()
}

func (d *deployment) benchmarkMemory(b *testing.B) {
	bare := part{Role: "bare", Address: "127.0.0.1:0"}.start(b)
	perClient := func(p *process) float64 {
		before := p.do("memory").Memory
		s := d.open(p.address, nil)
		with := p.do("memory").Memory
		s.close()
		return (float64(with) - float64(before)) / float64(d.clients)
	}
	warm := d.open(d.relay.address, nil) // the variants and their subscriptions
	warm.close()
	d.relay.until(func(r report) bool { return r.Streams == 0 })
	var ofBare, ofRelay float64
	for b.Loop() {
		ofBare, ofRelay = perClient(bare), perClient(d.relay)
		d.relay.until(func(r report) bool { return r.Streams == 0 })
	}
	b.ReportMetric(ofBare, "bare-B/client")
	b.ReportMetric(ofRelay, "relay-B/client")
	b.ReportMetric(ofRelay-ofBare, "beyond-B/client")
}

func (d *deployment) benchmarkChange(b *testing.B) {
	var direct, relayed, added []time.Duration
	var directUp, relayUp, ofRelay time.Duration
	reached := 0
	for b.Loop() {
		used := func(p *process) time.Duration { return p.do("report").CPU }
		ofApart, ofUpstream, begin := used(d.apart), used(d.upstream), used(d.relay)
		direct = append(direct, d.change(d.apart, d.direct))
		relayed = append(relayed, d.change(d.upstream, d.relayed))
		directUp += used(d.apart) - ofApart
		relayUp += used(d.upstream) - ofUpstream
		ofRelay += used(d.relay) - begin
		reached += d.relayed.count()
		added = append(added, relayed[len(relayed)-1]-direct[len(direct)-1])
	}
	slices.Sort(direct)
	slices.Sort(relayed)
	slices.Sort(added)
	low, high := medianInterval(len(added))
	milliseconds := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	n := float64(len(added))
	b.ReportMetric(float64(directUp.Microseconds())/n, "direct-up-us/op")
	b.ReportMetric(float64(relayUp.Microseconds())/n, "relay-up-us/op")
	b.ReportMetric(float64(ofRelay.Microseconds())/n/float64(d.clients), "relay-us/conn")
	b.ReportMetric(float64(ofRelay.Microseconds())/float64(reached), "relay-us/push")
	b.ReportMetric(milliseconds(direct[len(direct)/2]), "direct-p50-ms")
	b.ReportMetric(milliseconds(relayed[len(relayed)/2]), "relay-p50-ms")
	b.ReportMetric(milliseconds(added[len(added)/2]), "adds-p50-ms")
	b.ReportMetric(milliseconds(added[low]), "adds-low-ms")
	b.ReportMetric(milliseconds(added[high]), "adds-high-ms")
}

// medianInterval returns the indexes of sorted values between which their median is with a
// probability of 95 %: the number of values below it is binomial.
func medianInterval(n int) (low, high int) {
	p := 1.0
	for range n {
		p /= 2
	}
	sum := p // of at most low values below the median
	for low = 0; low < n/2; low++ {
		p *= float64(n-low) / float64(low+1)
		if sum+p > 0.025 {
			break
		}
		sum += p
	}
	return low, n - 1 - low
}

func (d *deployment) benchmarkUpstream(b *testing.B) {
	var bytes, sends int64
	n := 0
	for b.Loop() {
		n++
		before := d.relay.do("report")
		d.change(d.upstream, d.relayed)
		once := d.relay.do("report").Received - before.Received // what a change costs
		reached := d.relayed.count()
		before = d.relay.do("report")
		d.upstream.kill()
		changes := d.upstream.changes
		d.upstream = d.upstream.part.start(d.b)
		d.upstream.changes = changes
		d.upstream.until(func(r report) bool { return r.Subscriptions == benchVariants })
		d.change(d.upstream, d.relayed) // it comes after all that the resumption sends
		after := d.relay.do("report")
		bytes += after.Received - before.Received - once
		sends += after.Pushes - before.Pushes - int64(reached)
	}
	b.ReportMetric(float64(bytes)/float64(n), "up-B/op")
	b.ReportMetric(float64(sends)/float64(n), "sends/op")
}

func (d *deployment) benchmarkRelay(b *testing.B) {
	var bytes, clientBytes int64
	n := 0
	for b.Loop() {
		n++
		before := d.relay.do("report")
		d.change(d.upstream, d.relayed)
		once := d.relay.do("report").Received - before.Received
		d.relay.do("end")
		d.relayed.close()
		d.relay.kill()
		d.relay = d.relay.part.start(d.b)
		d.relayed = d.open(d.relay.address, d.relayed)
		d.upstream.until(func(r report) bool { return r.Subscriptions == benchVariants })
		d.change(d.upstream, d.relayed)
		bytes += d.relay.do("report").Received - once
		clientBytes += d.relayed.others()
	}
	b.ReportMetric(float64(bytes)/float64(n), "up-B/op")
	b.ReportMetric(float64(clientBytes)/float64(n), "client-B/op")
}

// streams are clients of one name: client i has variant i mod benchVariants.
type streams struct {
	cancel   context.CancelFunc
	running  sync.WaitGroup
	versions []string // by client

	mu       sync.Mutex
	begin    time.Time
	times    []time.Duration // of responses with a resource, since begin
	expected int
	done     chan struct{}
	bytes    int64 // of all responses
	changed  int64 // of those that times has
}

// open opens streams, and waits until the server has their subscriptions and they hold their
// variants. If they resume, they have the versions of others.
func (d *deployment) open(address string, resumed *streams) *streams {
	d.b.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := &streams{cancel: cancel, versions: make([]string, d.clients)}
	d.b.Cleanup(s.close)
	var done chan struct{}
	if resumed == nil {
		done = s.expect(d.clients)
	} else {
		copy(s.versions, resumed.versions)
	}
	const perConnection = 500
	var service discoveryv3.AggregatedDiscoveryServiceClient
	for i := range d.clients {
		if i%perConnection == 0 {
			conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithIdleTimeout(0))
			must(d.b, err)
			s.running.Go(func() {
				<-ctx.Done()
				_ = conn.Close()
			})
			service = discoveryv3.NewAggregatedDiscoveryServiceClient(conn)
		}
		stream, err := service.DeltaAggregatedResources(ctx, grpc.WaitForReady(true))
		must(d.b, err)
		first := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: wire.ClusterType.URL(), ResourceLocatorsSubscribe: []*discoveryv3.ResourceLocator{
			{Name: benchName, DynamicParameters: map[string]string{"env": fmt.Sprint(i % benchVariants), "client": fmt.Sprint(i), "zone": "a"}},
		}}
		if s.versions[i] != "" {
			first.InitialResourceVersions = map[string]string{benchName: s.versions[i]}
		}
		must(d.b, stream.Send(first))
		s.running.Go(func() {
			for {
				m, err := stream.Recv()
				if err != nil {
					return
				}
				s.record(i, m)
				_ = stream.Send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: m.TypeUrl, ResponseNonce: m.Nonce})
			}
		})
	}
	if done == nil {
		d.relay.until(func(r report) bool { return r.Subscriptions == int64(d.clients) })
		return s
	}
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		d.b.Fatal("not all clients are served")
	}
	return s
}

// record records a response to a client.
func (s *streams) record(client int, m *discoveryv3.DeltaDiscoveryResponse) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	size := int64(proto.Size(m))
	s.bytes += size
	if len(m.Resources) == 0 {
		return
	}
	s.versions[client] = m.Resources[0].Version
	s.changed += size
	if s.times = append(s.times, now.Sub(s.begin)); len(s.times) == s.expected {
		close(s.done)
	}
}

// expect begins to measure, and returns what is closed after a number of responses.
func (s *streams) expect(responses int) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.times, s.expected, s.done, s.begin = s.times[:0], responses, make(chan struct{}), time.Now()
	return s.done
}

func (s *streams) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.times)
}

func (s *streams) median() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.times)
	return s.times[len(s.times)/2]
}

// others returns the bytes of responses other than those that were expected.
func (s *streams) others() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes - s.changed
}

func (s *streams) close() {
	s.cancel()
	s.running.Wait()
}
