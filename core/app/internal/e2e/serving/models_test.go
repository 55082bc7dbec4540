package serving

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// The models of clients that random tests have (xdstest.Program) send the requests that the real
// programs send: for each type the same subscriptions one after the other, and an answer to each
// response. The server starts, a cluster changes, endpoints leave and return, an outbound comes and
// goes, and the server restarts with an edit in between. A gRPC client starts before its backend.
//
// What gRPC asks after its last endpoint has gone is not compared: grpc-go then keeps the names of
// clusters and endpoints, C-core those of routes too, and the models ask for them anew.
func TestModelsAskAsPrograms(t *testing.T) {
	const second = `
{type: Dataplane, name: web, networking: {address: 127.0.0.1, inbound: [{port: 10000, serviceAddress: 127.0.0.1, servicePort: 10080, protocol: http2, tags: {kuma.io/service: web}}],
  outbound: [{address: 127.0.0.1, port: 10001, tags: {kuma.io/service: backend}}, {address: 127.0.0.1, port: 10002, tags: {kuma.io/service: web}}]}}
`
	var restart func(*mesh) // the server, with the next edit
	envoy := []func(m *mesh){
		func(m *mesh) {
			m.write("web.yaml", web)
			m.write("backend-2.yaml", backend2)
			m.write("timeouts.yaml", timeouts(10*time.Second, 5*time.Second))
		},
		func(m *mesh) { m.write("timeouts.yaml", timeouts(10*time.Second, 6*time.Second)) },
		func(m *mesh) { m.remove("backend-2.yaml") },
		func(m *mesh) { m.write("backend-2.yaml", backend2) },
		func(m *mesh) { m.write("web.yaml", second) },
		func(m *mesh) { m.write("web.yaml", web) },
		restart,
		func(m *mesh) { m.write("timeouts.yaml", timeouts(10*time.Second, 7*time.Second)) },
	}
	grpcSteps := []func(m *mesh){
		func(m *mesh) { m.write("client.yaml", grpcClient) },
		func(m *mesh) { m.write("greeter.yaml", greeter(1)) },
		func(m *mesh) { m.write("greeter.yaml", greeter(2)) },
		restart,
		func(m *mesh) { m.write("greeter.yaml", greeter(1)) },
	}
	for _, test := range []struct {
		program string
		node    string
		client  xds.Client
		steps   []func(m *mesh)
		start   func(t *testing.T, m *mesh)
	}{
		{"envoy delta", "web", envoytest.Client(t), envoy, func(t *testing.T, m *mesh) {
			m.startProxy("web", corev3.ApiConfigSource_DELTA_GRPC, firstReplica, "127.0.0.201:9901")
		}},
		{"envoy sotw", "web", envoytest.Client(t), envoy, func(t *testing.T, m *mesh) {
			m.startProxy("web", corev3.ApiConfigSource_GRPC, firstReplica, "127.0.0.201:9901")
		}},
		{"grpc-go", "client", xds.Client{Type: xds.ProxylessGRPC}, grpcSteps, func(t *testing.T, m *mesh) {
			g := dialGo(m, firstReplica)
			go func() { _, _ = g.call("") }()
		}},
		{"grpc-core", "client", xds.Client{Type: xds.ProxylessGRPC}, grpcSteps, func(t *testing.T, m *mesh) {
			g := dialPython(m, firstReplica)
			go func() { _, _ = g.call("") }()
		}},
	} {
		t.Run(test.program, func(t *testing.T) {
			t.Parallel()
			programs := xdstest.Programs()
			program := programs[slices.IndexFunc(programs, func(p xdstest.Program) bool { return p.Name == test.program })]
			node := "kri_dp_default___" + test.node + "_"
			m := newMesh(t, nil)
			modelled, real := newRecorded(t), newRecorded(t)
			model := xdstest.NewModel(program, node, 1, strings.TrimPrefix(greeterTarget, "xds:///"))
			t.Cleanup(model.Close)
			address := m.network.Replace(firstReplica)
			started := false
			for i, step := range test.steps {
				if step == nil {
					modelled.stop()
					real.stop()
					continue
				}
				step(m)
				s := m.snapshot(t, test.node, test.client)
				modelled.source.Edit(func(state *xdstest.State) { state.Nodes[node] = s })
				real.source.Edit(func(state *xdstest.State) { state.Nodes[node] = s })
				if modelled.end == nil {
					modelled.start("127.0.0.1:0")
					conn, err := grpc.NewClient(modelled.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { _ = conn.Close() })
					if err := model.Connect(conn); err != nil {
						t.Fatal(err)
					}
					real.start(address)
				}
				if !started {
					started = true
					test.start(t, m)
				}
				eventually(t, "the model has the edit", func() bool {
					return len(model.Differences(s)) == 0 && modelled.server.NodeState(node) == server.Converged
				})
				deadline := time.Now().Add(20 * time.Second)
				for !maps.Equal(real.requests(), modelled.requests()) && time.Now().Before(deadline) {
					time.Sleep(10 * time.Millisecond)
				}
				want, got := modelled.requests(), real.requests()
				for _, key := range slices.Sorted(maps.Keys(want)) {
					if got[key] != want[key] {
						t.Errorf("step %d: %s:\nthe program: %s\nthe model:   %s", i, key, got[key], want[key])
					}
				}
				for key := range got {
					if want[key] == "" {
						t.Errorf("step %d: the program alone asks %s: %s", i, key, got[key])
					}
				}
				if t.Failed() {
					return
				}
			}
		})
	}
}

// snapshot returns the resources of a dataplane of the files.
func (m *mesh) snapshot(t *testing.T, name string, client xds.Client) *wire.Snapshot {
	t.Helper()
	loader := resource.Loader{Kinds: kinds.All()}
	set, err := loader.Load(t.Context(), m.dir)
	if err != nil {
		t.Fatal(err)
	}
	view, err := core.Options{Semantics: core.TargetRef}.NewView(t.Context(), loader.Kinds, set)
	if err != nil {
		t.Fatal(err)
	}
	d := view.Dataplane(resource.ID{Kind: resource.DataplaneKind, Mesh: "default", Name: name})
	return snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(view).SnapshotFor(d, client).ServedWithoutKeys()
}

// recorded is a server behind a proxy that records the requests of its streams.
type recorded struct {
	t       *testing.T
	source  *xdstest.Source
	server  *server.Server
	address string
	inner   discoveryv3.AggregatedDiscoveryServiceClient
	end     func()

	mu      sync.Mutex
	streams int
	texts   map[string]string // requests, by stream and type
	numbers map[string]int    // responses, by stream and type
	nonces  map[string]int    // the numbers of responses, by nonce
	// unanswered are the numbers of responses without an answer, by stream and type.
	unanswered map[string][]int
}

func newRecorded(t *testing.T) *recorded {
	r := &recorded{t: t, source: xdstest.NewSource(xdstest.NewState()), texts: map[string]string{}, numbers: map[string]int{}, nonces: map[string]int{}, unanswered: map[string][]int{}}
	t.Cleanup(r.stop)
	return r
}

func (r *recorded) start(address string) {
	r.t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	outer, err := net.Listen("tcp", address)
	if err != nil {
		r.t.Fatal(err)
	}
	r.server, r.address = server.New(server.Options{Source: r.source, Drain: -1}), outer.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	serving, proxying := grpc.NewServer(r.server.GRPCOptions(nil)...), grpc.NewServer()
	r.server.Register(serving)
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(proxying, recorder{r: r})
	conn, err := grpc.NewClient(inner.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		r.t.Fatal(err)
	}
	r.inner = discoveryv3.NewAggregatedDiscoveryServiceClient(conn)
	var running sync.WaitGroup
	running.Go(func() { r.server.Run(ctx) })
	running.Go(func() { _ = serving.Serve(inner) })
	running.Go(func() { _ = proxying.Serve(outer) })
	r.end = func() {
		proxying.Stop()
		_ = conn.Close()
		serving.Stop()
		cancel()
		running.Wait()
	}
}

func (r *recorded) stop() {
	if r.end != nil {
		r.end()
		r.end = nil
	}
}

// requests returns what was asked until now, and which responses of the last stream have no answer: how
// many there are depends on the order in which the server reads the requests of a new stream.
func (r *recorded) requests() map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	texts := maps.Clone(r.texts)
	for key, numbers := range r.unanswered {
		if len(numbers) > 0 && strings.HasPrefix(key, fmt.Sprintf("stream %d,", r.streams)) {
			texts[key+", without an answer"] = fmt.Sprint(numbers)
		}
	}
	return texts
}

// begin returns the number of a stream.
func (r *recorded) begin() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.streams++
	return r.streams
}

func (r *recorded) key(stream int, url string) string {
	return fmt.Sprintf("stream %d, %s", stream, url[strings.LastIndex(url, ".")+1:])
}

func (r *recorded) request(stream int, url, nonce, nack, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := r.key(stream, url)
	if number := r.nonces[nonce]; number > 0 {
		r.unanswered[key] = slices.DeleteFunc(r.unanswered[key], func(n int) bool { return n == number })
	}
	if nack != "" {
		text += " rejects: " + nack
	}
	if text != "" && !strings.HasSuffix(r.texts[key], text) {
		r.texts[key] += text
	}
}

func (r *recorded) response(stream int, url, nonce string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := r.key(stream, url)
	r.numbers[key]++
	r.nonces[nonce] = r.numbers[key]
	r.unanswered[key] = append(r.unanswered[key], r.numbers[key])
}

// recorder is the proxy of a recorded server.
type recorder struct {
	discoveryv3.UnimplementedAggregatedDiscoveryServiceServer
	r *recorded
}

func (p recorder) DeltaAggregatedResources(s discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResourcesServer) error {
	up, err := p.r.inner.DeltaAggregatedResources(s.Context())
	if err != nil {
		return err
	}
	n := p.r.begin()
	go forward(s.Recv, up.Send, func(m *discoveryv3.DeltaDiscoveryRequest) {
		subscribe, unsubscribe := m.GetResourceNamesSubscribe(), m.GetResourceNamesUnsubscribe()
		text := fmt.Sprint("[+", slices.Sorted(slices.Values(subscribe)), " -", slices.Sorted(slices.Values(unsubscribe)), " has ",
			slices.Sorted(maps.Keys(m.GetInitialResourceVersions())), "]")
		if m.GetResponseNonce() != "" && len(subscribe)+len(unsubscribe) == 0 {
			text = ""
		}
		p.r.request(n, m.GetTypeUrl(), m.GetResponseNonce(), m.GetErrorDetail().GetMessage(), text)
	})
	return forward(up.Recv, s.Send, func(m *discoveryv3.DeltaDiscoveryResponse) { p.r.response(n, m.GetTypeUrl(), m.GetNonce()) })
}

func (p recorder) StreamAggregatedResources(s discoveryv3.AggregatedDiscoveryService_StreamAggregatedResourcesServer) error {
	up, err := p.r.inner.StreamAggregatedResources(s.Context())
	if err != nil {
		return err
	}
	n := p.r.begin()
	go forward(s.Recv, up.Send, func(m *discoveryv3.DiscoveryRequest) {
		p.r.request(n, m.GetTypeUrl(), m.GetResponseNonce(), m.GetErrorDetail().GetMessage(), fmt.Sprint(slices.Sorted(slices.Values(m.GetResourceNames()))))
	})
	return forward(up.Recv, s.Send, func(m *discoveryv3.DiscoveryResponse) { p.r.response(n, m.GetTypeUrl(), m.GetNonce()) })
}

// forward passes messages on until a stream ends.
func forward[M any](receive func() (M, error), send func(M) error, note func(M)) error {
	for {
		m, err := receive()
		if err != nil {
			return err
		}
		note(m)
		if err := send(m); err != nil {
			return err
		}
	}
}
