package server_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// The tests of this file are about clients that want to harm others (SPEC 12.3).

// deltaConversation is a stream of delta without the rules of a client.
func deltaConversation(t testing.TB, conn grpc.ClientConnInterface, ctx context.Context) discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResourcesClient {
	t.Helper()
	stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(conn).DeltaAggregatedResources(ctx,
		grpc.MaxCallSendMsgSize(64<<20), grpc.MaxCallRecvMsgSize(256<<20))
	must(t, err)
	return stream
}

// stateConversation is deltaConversation for state of the world.
func stateConversation(t testing.TB, conn grpc.ClientConnInterface, ctx context.Context) discoveryv3.AggregatedDiscoveryService_StreamAggregatedResourcesClient {
	t.Helper()
	stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(conn).StreamAggregatedResources(ctx,
		grpc.MaxCallSendMsgSize(64<<20), grpc.MaxCallRecvMsgSize(256<<20))
	must(t, err)
	return stream
}

func manyLocators(n int, parameters map[string]string) []*discoveryv3.ResourceLocator {
	locators := make([]*discoveryv3.ResourceLocator, n)
	for i, name := range xdstest.MissingNames(n, 8) {
		locators[i] = &discoveryv3.ResourceLocator{Name: name, DynamicParameters: parameters}
	}
	return locators
}

func TestRequestsPastALimit(t *testing.T) {
	const kilobyte = 1 << 10
	cluster := wire.ClusterType.URL()
	long := strings.Repeat("x", kilobyte+1)
	many := make([]string, 100_001)
	empty := make([]*discoveryv3.ResourceLocator, 100_001)
	for i := range empty {
		empty[i] = &discoveryv3.ResourceLocator{}
	}
	unnamed := strings.Repeat("x", kilobyte)
	tests := []struct {
		name    string
		request *discoveryv3.DeltaDiscoveryRequest
		code    codes.Code // OK: it is answered
	}{
		{"a node id of 1 KiB", &discoveryv3.DeltaDiscoveryRequest{Node: &corev3.Node{Id: unnamed}, TypeUrl: cluster}, codes.OK},
		{"a longer node id", &discoveryv3.DeltaDiscoveryRequest{Node: &corev3.Node{Id: long}, TypeUrl: cluster}, codes.InvalidArgument},
		{"a long user agent", &discoveryv3.DeltaDiscoveryRequest{Node: &corev3.Node{UserAgentName: long}, TypeUrl: cluster}, codes.InvalidArgument},
		{"a large node", &discoveryv3.DeltaDiscoveryRequest{Node: &corev3.Node{ClientFeatures: many, Cluster: strings.Repeat("x", 1<<20)}, TypeUrl: cluster}, codes.InvalidArgument},
		{"a name of 1 KiB", &discoveryv3.DeltaDiscoveryRequest{TypeUrl: cluster, ResourceNamesSubscribe: []string{unnamed}}, codes.OK},
		{"a longer name", &discoveryv3.DeltaDiscoveryRequest{TypeUrl: cluster, ResourceNamesSubscribe: []string{long}}, codes.InvalidArgument},
		{"a long name of a locator", &discoveryv3.DeltaDiscoveryRequest{TypeUrl: cluster,
			ResourceLocatorsSubscribe: []*discoveryv3.ResourceLocator{{Name: long}}}, codes.InvalidArgument},
		{"a long parameter", &discoveryv3.DeltaDiscoveryRequest{TypeUrl: cluster,
			ResourceLocatorsSubscribe: []*discoveryv3.ResourceLocator{{Name: "a", DynamicParameters: map[string]string{"k": long}}}}, codes.InvalidArgument},
		{"a long type", &discoveryv3.DeltaDiscoveryRequest{TypeUrl: long}, codes.InvalidArgument},
		{"a long nonce", &discoveryv3.DeltaDiscoveryRequest{TypeUrl: cluster, ResponseNonce: long}, codes.InvalidArgument},
		{"more names than the limit", &discoveryv3.DeltaDiscoveryRequest{TypeUrl: cluster, ResourceNamesSubscribe: many}, codes.ResourceExhausted},
		{"more locators than the limit", &discoveryv3.DeltaDiscoveryRequest{TypeUrl: cluster, ResourceLocatorsSubscribe: empty}, codes.ResourceExhausted},
		{"more names of a type that is not served", &discoveryv3.DeltaDiscoveryRequest{TypeUrl: "x", ResourceNamesSubscribe: many}, codes.ResourceExhausted},
		{"more names to unsubscribe", &discoveryv3.DeltaDiscoveryRequest{TypeUrl: cluster, ResourceNamesUnsubscribe: many}, codes.ResourceExhausted},
		{"a large error", &discoveryv3.DeltaDiscoveryRequest{TypeUrl: cluster, ErrorDetail: &status.Status{Message: strings.Repeat("x", 5<<20)}}, codes.InvalidArgument},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, server.Options{Source: oneNode()})
				stream := deltaConversation(t, r.conn, t.Context())
				must(t, stream.Send(test.request))
				if _, err := stream.Recv(); grpcstatus.Code(err) != test.code {
					t.Errorf("the answer is %v, want %v", err, test.code)
				}
			})
		})
	}
}

// blocked is a state in which the choice for the locator "slow" takes until release is
// closed.
type blocked struct {
	server.State
	entered chan<- struct{}
	release <-chan struct{}
}

func (b *blocked) Locate(node *server.Node, t wire.Type, name string, parameters map[string]string) (wire.Variant, bool) {
	if name == "slow" {
		select {
		case b.entered <- struct{}{}:
		default:
		}
		<-b.release
	}
	return b.State.Locate(node, t, name, parameters)
}

// While one stream works, whether on a request or on a change, all others get changes,
// the status is answered, and the server ends.
func TestNoStreamWaitsForAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		entered, release := make(chan struct{}, 1), make(chan struct{})
		state := func(content string) *blocked {
			s := xdstest.NewState()
			s.Nodes["n"] = xdstest.Snapshot(xdstest.Resource(wire.ClusterType, "a", content))
			return &blocked{s, entered, release}
		}
		source := newSwitching(state("1"))
		r := start(t, server.Options{Source: source})
		t.Cleanup(func() { close(release) })
		honest := r.client(t, xdstest.Options{Node: node("n")})
		must(t, honest.Wildcard(wire.ClusterType))
		await(t, honest, wire.ClusterType, xdstest.Resource(wire.ClusterType, "a", "1"))

		for range 8 { // in each shard of streams, before and after the honest one
			hostile := r.client(t, xdstest.Options{})
			must(t, hostile.SubscribeLocators(wire.ClusterType, xdstest.Locator{Name: "slow"}))
		}
		<-entered // the handler of a request works, with its lock
		for i := range 3 {
			content := fmt.Sprint("edit", i)
			source.publish(state(content))
			// It also ACKs, before the next edit: an ACK leads to the newest state too.
			await(t, honest, wire.ClusterType, xdstest.Resource(wire.ClusterType, "a", content))
		}
		if got := r.NodeState("n"); got == server.Absent {
			t.Error("the honest client is absent")
		}
		r.Drain()
		awaitEnd(t, honest, codes.Unavailable)
	})
}

// A state computes variants for many streams, and the client of many other streams does not
// read. No other client waits for more than a few stalls of a pass.
func TestPassGoesAroundStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		state := func(content string) server.State {
			s := xdstest.NewState()
			s.Nodes["honest"] = xdstest.Snapshot(xdstest.Resource(wire.ClusterType, "a", content))
			s.Nodes["deaf"] = xdstest.Snapshot(xdstest.Resource(wire.ClusterType, "a", content+strings.Repeat("x", 1<<20)))
			return s
		}
		source := newSwitching(state("1"))
		r := start(t, server.Options{Source: source})
		for range 50 {
			deaf := deltaConversation(t, r.dial(t), t.Context())
			must(t, deaf.Send(&discoveryv3.DeltaDiscoveryRequest{Node: node("deaf"), TypeUrl: wire.ClusterType.URL()}))
		}
		for range 300 {
			located := r.client(t, xdstest.Options{})
			must(t, located.SubscribeLocators(wire.ClusterType, xdstest.Locator{Name: "slow"}))
		}
		honest := r.client(t, xdstest.Options{Node: node("honest")})
		must(t, honest.Wildcard(wire.ClusterType))
		await(t, honest, wire.ClusterType, xdstest.Resource(wire.ClusterType, "a", "1"))
		for i := range 3 {
			content := fmt.Sprint("edit", i)
			source.publish(&blocked{state(content), make(chan struct{}, 1), release})
			time.Sleep(50 * time.Millisecond) // of the clock of the bubble
			await(t, honest, wire.ClusterType, xdstest.Resource(wire.ClusterType, "a", content))
		}
	})
}

// slowNodes is a state in which the snapshot of a node takes until release is closed.
type slowNodes struct {
	server.State
	calls   atomic.Int64
	release chan struct{}
}

func (s *slowNodes) Node(n *server.Node) (*wire.Snapshot, bool) {
	s.calls.Add(1)
	<-s.release
	return s.State.Node(n)
}

// Clients open many streams at once, and reset them. As many snapshots are made at a time as
// there are processors, and none for a stream that was reset before its turn.
func TestSnapshotsOfNodesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := &slowNodes{State: oneNode().State(), release: make(chan struct{})}
		r := start(t, server.Options{Source: newSwitching(state)})
		ctx, reset := context.WithCancel(t.Context())
		for range 50 * runtime.GOMAXPROCS(0) {
			stream := deltaConversation(t, r.conn, ctx)
			must(t, stream.Send(&discoveryv3.DeltaDiscoveryRequest{Node: node("n"), TypeUrl: wire.ClusterType.URL()}))
		}
		synctest.Wait()
		atOnce := state.calls.Load()
		reset()
		synctest.Wait()
		close(state.release)
		synctest.Wait()
		if all, limit := state.calls.Load(), int64(runtime.GOMAXPROCS(0)); atOnce != limit || all != limit {
			t.Errorf("%d snapshots were made at once, %d in all; want %d of both", atOnce, all, limit)
		}
		if ids := r.NodeIDs(); len(ids) > 0 {
			t.Errorf("streams are left: %q", ids)
		}
	})
}

// longNodes are slowNodes for the id long only.
type longNodes struct{ slowNodes }

func (s *longNodes) IsLong(n *server.Node) bool { return n.ID == "long" }

func (s *longNodes) Node(n *server.Node) (*wire.Snapshot, bool) {
	if s.IsLong(n) {
		return s.slowNodes.Node(n)
	}
	return s.State.Node(n)
}

// The snapshots of some nodes take long. Others do not wait for them.
func TestLongSnapshotsOfOtherNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := xdstest.NewState()
		nodes.Nodes["n"] = xdstest.Snapshot(xdstest.Resource(wire.ClusterType, "a", "1"))
		nodes.Nodes["long"] = nodes.Nodes["n"]
		state := &longNodes{slowNodes{State: nodes, release: make(chan struct{})}}
		r := start(t, server.Options{Source: newSwitching(state)})
		for range 50 * runtime.GOMAXPROCS(0) {
			must(t, deltaConversation(t, r.conn, t.Context()).Send(&discoveryv3.DeltaDiscoveryRequest{Node: node("long"), TypeUrl: wire.ClusterType.URL()}))
		}
		synctest.Wait()
		if got, limit := state.calls.Load(), int64(max(1, runtime.GOMAXPROCS(0)/2)); got != limit {
			t.Errorf("%d of them are made at once, want %d", got, limit)
		}
		stream := deltaConversation(t, r.dial(t), t.Context())
		must(t, stream.Send(&discoveryv3.DeltaDiscoveryRequest{Node: node("n"), TypeUrl: wire.ClusterType.URL()}))
		if _, err := stream.Recv(); err != nil {
			t.Error(err)
		}
		close(state.release)
	})
}

// A request of more than 64 KiB is charged by its size when it is there. It is weighed, which
// finds that it passes a limit, only in its turn.
func TestLongRequestsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		entered, release := make(chan struct{}, 1), make(chan struct{})
		r := start(t, server.Options{Source: newSwitching(&blocked{xdstest.NewState(), entered, release})})
		busy := make([]*discoveryv3.ResourceLocator, 1001) // long work, on each turn of the gate
		for i := range busy {
			busy[i] = &discoveryv3.ResourceLocator{Name: "slow", DynamicParameters: map[string]string{"k": fmt.Sprintf("%0100d", i)}}
		}
		for range runtime.GOMAXPROCS(0) {
			must(t, deltaConversation(t, r.conn, t.Context()).Send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: wire.ClusterType.URL(), ResourceLocatorsSubscribe: busy}))
		}
		synctest.Wait()
		before := r.Charged()
		wrong := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: wire.ClusterType.URL(), ResourceNamesSubscribe: []string{strings.Repeat("x", 100<<10)}}
		stream := deltaConversation(t, r.dial(t), t.Context())
		must(t, stream.Send(wrong))
		synctest.Wait()
		if got := r.Charged() - before; got != proto.Size(wrong) {
			t.Errorf("before its turn, %d bytes are charged, want %d", got, proto.Size(wrong))
		}
		close(release)
		if _, err := stream.Recv(); grpcstatus.Code(err) != codes.InvalidArgument {
			t.Errorf("the answer is %v", err)
		}
	})
}

// A long request is charged what it takes when it is decoded: an element of two bytes takes more
// than a hundred. That is before it is decoded.
func TestLongRequestsAreWeighed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Options{Source: oneNode(), MaxSubscriptionBytes: 1 << 20})
		stream := deltaConversation(t, r.conn, t.Context())
		must(t, stream.Send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: wire.ClusterType.URL(), ResourceLocatorsSubscribe: manyLocators(40_000, nil)}))
		if _, err := stream.Recv(); grpcstatus.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(), "that are handled") {
			t.Errorf("the answer is %v", err)
		}
	})
}

// fewer returns a tenth of a number with -short, for tests of many names on one stream: with
// the race detector their work takes a minute, and one goroutine does it.
func fewer(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// TestManyLocators subscribes 100,000 locators in descending order, in one request and in
// a second one, and unsubscribes them. The time for that was quadratic.
func TestManyLocators(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Options{Source: oneNode()})
		stream := deltaConversation(t, r.conn, t.Context())
		parameters := map[string]string{"k": "v"}
		many := fewer(100_000)
		all := manyLocators(many, parameters)
		answered := 0
		for _, request := range []*discoveryv3.DeltaDiscoveryRequest{
			{TypeUrl: wire.ClusterType.URL(), ResourceLocatorsSubscribe: all[:many/2]},
			{TypeUrl: wire.ClusterType.URL(), ResourceLocatorsSubscribe: all[many/2:]},
			{TypeUrl: wire.ClusterType.URL(), ResourceLocatorsUnsubscribe: all},
			{TypeUrl: wire.ClusterType.URL(), ResourceLocatorsSubscribe: all[:1]},
		} {
			must(t, stream.Send(request))
			for wanted := answered + len(request.ResourceLocatorsSubscribe); answered < wanted; {
				response, err := stream.Recv()
				must(t, err)
				answered += len(response.GetRemovedResourceNames())
				must(t, stream.Send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: response.TypeUrl, ResponseNonce: response.Nonce}))
			}
		}
		if got := r.Counters().Subscriptions[wire.ClusterType].Load(); got != 1 {
			t.Errorf("%d subscriptions are left", got)
		}
	})
}

// counted counts how often locators are resolved.
type counted struct {
	server.State
	located *atomic.Int64
}

func (c counted) Locate(node *server.Node, t wire.Type, name string, parameters map[string]string) (wire.Variant, bool) {
	c.located.Add(1)
	return c.State.Locate(node, t, name, parameters)
}

// The limit on locators is checked before any of them is resolved; those within it are
// resolved once, in whatever order they come, and again only for another state.
func TestLimitComesBeforeWork(t *testing.T) {
	limit, options := fewer(100_000), server.Options{} // without -short, it is the default
	if testing.Short() {
		options.MaxSubscriptions = limit
	}
	ascending := manyLocators(limit, map[string]string{"k": "v"})
	slices.Reverse(ascending)
	tests := []struct {
		name     string
		locators []*discoveryv3.ResourceLocator
		code     codes.Code
		resolved int64
	}{
		{"descending", manyLocators(limit, map[string]string{"k": "v"}), codes.OK, int64(limit)},
		{"ascending", ascending, codes.OK, int64(limit)},
		{"each twice", slices.Repeat(ascending[:limit/2], 2), codes.OK, int64(limit / 2)},
		{"past the limit", manyLocators(limit+1, map[string]string{"k": "v"}), codes.ResourceExhausted, 0},
		{"past the limit with one name", slices.Repeat(ascending[:1], limit+1), codes.ResourceExhausted, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			forProtocols(t, func(t *testing.T, sotw bool) {
				var located atomic.Int64
				options.Source = newSwitching(counted{xdstest.NewState(), &located})
				r := start(t, options)
				var err error
				if url := wire.EndpointType.URL(); sotw {
					stream := stateConversation(t, r.conn, t.Context())
					must(t, stream.Send(&discoveryv3.DiscoveryRequest{TypeUrl: url, ResourceLocators: test.locators}))
					_, err = stream.Recv()
				} else {
					stream := deltaConversation(t, r.conn, t.Context())
					must(t, stream.Send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: url, ResourceLocatorsSubscribe: test.locators}))
					_, err = stream.Recv()
				}
				if got := located.Load(); grpcstatus.Code(err) != test.code || got != test.resolved {
					t.Errorf("the answer is %v after %d resolutions, want %s after %d", err, got, test.code, test.resolved)
				}
			})
		})
	}
}

// elements are the parts of a response that the tests of sizes compare.
type elements struct{ size, resources, removed, removedNames, errors int }

// TestResponsesOfErrorsAreSplit asks for many names that do not exist, by name, by locator,
// of a type that is not served, and of a node that does not exist; then it lets as many
// names go. All answers arrive in responses within the limit, for 20,000 names of 270
// bytes and for random numbers and lengths.
func TestResponsesOfErrorsAreSplit(t *testing.T) {
	responsesOfErrors(t, 20_000, 270)
	if testing.Short() {
		return
	}
	random := rand.New(rand.NewPCG(13, 1))
	length := 8 + random.IntN(1016)
	responsesOfErrors(t, 1+random.IntN(min(30_000, 16<<20/length)), length)
}

func responsesOfErrors(t *testing.T, n, length int) {
	names := xdstest.MissingNames(n, length)
	var resources []*wire.Resource
	for _, name := range names {
		resources = append(resources, xdstest.Resource(wire.EndpointType, name, "1"))
	}
	id := "n" + strings.Repeat("i", 1000)
	source := func() *xdstest.Source {
		state := xdstest.NewState()
		state.Nodes["n"] = xdstest.Snapshot(resources...)
		return xdstest.NewSource(state)
	}
	locators := make([]*discoveryv3.ResourceLocator, n)
	for i, name := range names {
		locators[i] = &discoveryv3.ResourceLocator{Name: name}
	}
	tests := []struct {
		name, node, url string
		named, located  bool
		held            bool // at first they exist
	}{
		{"names", "n", wire.ClusterType.URL(), true, false, false},
		{"locators", "n", wire.ClusterType.URL(), false, true, false},
		{"of a type that is not served", "n", "type.googleapis.com/x.Y", true, true, false},
		{"of a node that does not exist", id, wire.ClusterType.URL(), true, false, false},
		{"names that go", "n", wire.EndpointType.URL(), true, false, true},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%s/%d of %d bytes", test.name, n, length), func(t *testing.T) {
			forProtocols(t, func(t *testing.T, sotw bool) {
				src := source()
				r := start(t, server.Options{Source: src})
				var subscribed []string
				var byLocator []*discoveryv3.ResourceLocator
				if test.named {
					subscribed = names
				}
				if test.located {
					byLocator = locators
				}
				var next func() elements
				text := 0 // of the node id in responses
				_, served := wire.TypeOf(test.url)
				if sotw {
					stream := stateConversation(t, r.conn, t.Context())
					request := func(n *corev3.Node, version, nonce string) {
						must(t, stream.Send(&discoveryv3.DiscoveryRequest{Node: n, TypeUrl: test.url, ResourceNames: subscribed,
							ResourceLocators: byLocator, VersionInfo: version, ResponseNonce: nonce}))
					}
					request(node(test.node), "", "")
					next = func() elements {
						m, err := stream.Recv()
						must(t, err)
						if served { // others are not acknowledged, and this client does not read while it writes
							request(nil, m.VersionInfo, m.Nonce)
						}
						text += occurrences(t, m, id)
						return elements{size: proto.Size(m), resources: len(m.Resources), errors: len(m.ResourceErrors)}
					}
				} else {
					stream := deltaConversation(t, r.conn, t.Context())
					must(t, stream.Send(&discoveryv3.DeltaDiscoveryRequest{Node: node(test.node), TypeUrl: test.url,
						ResourceNamesSubscribe: subscribed, ResourceLocatorsSubscribe: byLocator}))
					next = func() elements {
						m, err := stream.Recv()
						must(t, err)
						must(t, stream.Send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: test.url, ResponseNonce: m.Nonce}))
						text += occurrences(t, m, id)
						return elements{proto.Size(m), len(m.Resources), len(m.RemovedResources), len(m.RemovedResourceNames), len(m.ResourceErrors)}
					}
				}
				var sum elements
				read := func(done func() bool) {
					for responses := 0; !done(); responses++ {
						e := next()
						if e.size > server.MaxResponseBytes+1<<10 {
							t.Fatalf("a response has %d bytes", e.size)
						}
						if responses > 100 {
							t.Fatalf("after 100 responses there are %+v", sum)
						}
						sum.resources += e.resources
						sum.removed += e.removed
						sum.removedNames += e.removedNames
						sum.errors += e.errors
					}
				}
				if test.held {
					read(func() bool { return sum.resources >= n })
					src.Edit(func(s *xdstest.State) { s.Nodes["n"] = xdstest.Snapshot() })
				}
				want := elements{size: 0, resources: sum.resources}
				if test.named {
					want.errors += n
					if test.node == "n" {
						want.removed += n // a node that waits keeps its names (SPEC 12.3)
					}
				}
				if test.located {
					want.errors += n
					want.removedNames += n
				}
				if sotw {
					want.removed, want.removedNames = 0, 0
				}
				read(func() bool { return sum.errors >= want.errors })
				if sum != want {
					t.Errorf("the responses have %+v, want %+v", sum, want)
				}
				if text > 0 {
					t.Errorf("the responses have the id of the node %d times", text)
				}
			})
		})
	}
}

// occurrences counts a text in a message as it is sent, which takes less time than to print a
// message of megabytes.
func occurrences(t *testing.T, m proto.Message, text string) int {
	t.Helper()
	sent, err := proto.Marshal(m)
	must(t, err)
	return bytes.Count(sent, []byte(text))
}

// A line of the log has at most 1 KiB of text of a client.
func TestLogOfClientTextIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log lockedBuffer
		state := xdstest.NewState()
		id := strings.Repeat("i", 1000)
		state.Nodes[id] = xdstest.Snapshot(xdstest.Resource(wire.ClusterType, "a", "1"))
		r := start(t, server.Options{Source: xdstest.NewSource(state), Logger: slog.New(slog.NewTextHandler(&log, nil)), MaxSubscriptions: 2})
		words := strings.Repeat("w", 3<<20)
		rejecting := r.client(t, xdstest.Options{Node: node(id), Reject: func(xdstest.Held) string { return words }})
		must(t, rejecting.Wildcard(wire.ClusterType))
		unknown := r.client(t, xdstest.Options{Node: node(strings.Repeat("j", 1000))})
		must(t, unknown.Wildcard(wire.ClusterType))
		ending := r.client(t, xdstest.Options{Node: node(id)})
		must(t, ending.Subscribe(wire.ClusterType, xdstest.MissingNames(3, 1000)...))
		awaitEnd(t, ending, codes.ResourceExhausted)
		if !settles(func() bool {
			return strings.Contains(log.String(), "rejects") && strings.Contains(log.String(), "waits") && strings.Contains(log.String(), "ends")
		}) {
			t.Fatalf("the log has %d bytes", len(log.String()))
		}
		for line := range strings.Lines(log.String()) {
			text := 0
			for _, letter := range []string{"i", "j", "w"} {
				text += strings.Count(line, letter)
			}
			if text > 1<<10 || len(line) > 2<<10 {
				t.Errorf("a line has %d bytes, about %d of them of a client: %.100s", len(line), text, line)
			}
		}
	})
}

// A client cannot fill the log: of the lines that its streams cause, a few are logged in a time,
// and one that has the number of the others (package loglimit).
func TestLogOfOneClientIsLimited(t *testing.T) {
	for name, cause := range map[string]func(t *testing.T, r *running, c *xdstest.Client){
		"clusters without listeners": func(t *testing.T, r *running, c *xdstest.Client) { must(t, c.Wildcard(wire.ClusterType)) },
		"a request past a limit": func(t *testing.T, r *running, c *xdstest.Client) {
			must(t, c.Subscribe(wire.ClusterType, "a", "b", "c"))
		},
		"a node that does not exist":  func(t *testing.T, r *running, c *xdstest.Client) { must(t, c.Subscribe(wire.EndpointType, "a")) },
		"a response that is rejected": func(t *testing.T, r *running, c *xdstest.Client) { must(t, c.Subscribe(wire.RouteType, "a")) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log lockedBuffer
				source := oneNode(xdstest.Resource(wire.RouteType, "a", "1"))
				r := start(t, server.Options{Source: source, Logger: slog.New(slog.NewTextHandler(&log, nil)), MaxSubscriptions: 200})
				for i := range 100 {
					id := "n"
					if strings.Contains(name, "not exist") {
						id = fmt.Sprint("unknown", i)
					}
					if strings.Contains(name, "limit") {
						id = strings.Repeat("n", 2000)
					}
					c := r.client(t, xdstest.Options{Node: node(id), Reject: func(xdstest.Held) string { return "no" }})
					cause(t, r, c)
				}
				time.Sleep(time.Minute)
				lines := strings.Count(log.String(), "\n")
				if lines < 2 || lines > 22 {
					t.Errorf("the log has %d lines:\n%s", lines, log.String())
				}
				if n := r.Counters().Unlogged.Load(); n < 80 {
					t.Errorf("%d lines are counted as left out", n)
				}
			})
		})
	}
}

// A client that resumes keeps what it has while its dataplane does not exist, until the
// server has run for Options.Keep: then its resources are removed.
func TestKeep(t *testing.T) {
	forProtocols(t, func(t *testing.T, sotw bool) {
		a := xdstest.Resource(wire.ClusterType, "a", "1")
		e := xdstest.Resource(wire.EndpointType, "e", "1")
		first := start(t, server.Options{Source: oneNode(a, e)})
		old := first.client(t, xdstest.Options{StateOfTheWorld: sotw, Node: node("n")})
		must(t, old.Wildcard(wire.ClusterType))
		must(t, old.Subscribe(wire.EndpointType, "e"))
		await(t, old, wire.ClusterType, a)
		await(t, old, wire.EndpointType, e)
		old.Close()

		const keep = time.Hour
		second := start(t, server.Options{Source: xdstest.NewSource(xdstest.NewState()), Keep: keep})
		c := second.client(t, xdstest.Options{StateOfTheWorld: sotw, Node: node("n"), Resume: old})
		time.Sleep(keep - time.Nanosecond)
		await(t, c, wire.ClusterType, a)
		await(t, c, wire.EndpointType, e)
		time.Sleep(time.Nanosecond)
		await(t, c, wire.ClusterType)
		await(t, c, wire.EndpointType)
		// A dataplane that comes later is served.
		second.source.Edit(func(s *xdstest.State) { s.Nodes["n"] = xdstest.Snapshot(a, e) })
		await(t, c, wire.ClusterType, a)
	})
}
