package serve_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/meshmatch/meshmatch/core/app/internal/serve"
	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/app/internal/source/sourcetest"
	"github.com/meshmatch/meshmatch/core/internal/usage"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// TestSoakHostile runs hostile clients of all kinds, hostile authors, and honest clients (SPEC
// 12.3). The authors write to a store, the edits are of files. Each edit reaches each honest client. When the hostile clients have left, the memory is as before.
// With SOAK_TIME, such as 1m, it runs that long; an edit must arrive within 2 s, and the
// resident set must stay below 1 GB. Without SOAK_TIME, it makes a few edits and measures
// no time.
func TestSoakHostile(t *testing.T) {
	duration, measured := time.Duration(0), false
	if text := os.Getenv("SOAK_TIME"); text != "" {
		var err error
		if duration, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
		measured = true
	}
	var selectors []string // each sets a field that no other one sets
	for i, field := range []string{"maxConnections", "maxPendingRequests", "maxRequests", "maxRetries", "maxConnectionPools"} {
		selectors = append(selectors, tagPolicy(i, fmt.Sprintf("{connectionLimits: {%s: %d}}", field, i+1)))
	}
	for i, field := range []string{"interval: 6s", "baseEjectionTime: 7s", "maxEjectionPercent: 8", "splitExternalAndLocalErrors: true"} {
		selectors = append(selectors, tagPolicy(i+5, fmt.Sprintf("{outlierDetection: {%s, detectors: {successRate: {}}}}", field)))
	}
	for i, detector := range []string{"totalFailures", "gatewayFailures", "localOriginFailures"} {
		selectors = append(selectors, tagPolicy(i+9, fmt.Sprintf("{outlierDetection: {detectors: {%s: {consecutive: 9}}}}", detector)))
	}
	m := sourcetest.NewMemory()
	r := startReal(t, map[string]string{
		"mesh.yaml": mesh, "selectors.yaml": strings.Join(selectors, "\n---\n"), "timeout.yaml": timeout("1s"),
	}, func(o *serve.Options) { o.Health, o.Stores = "127.0.0.1:0", []source.Store{m} })
	var honest []*xdstest.Client
	for range 5 {
		c := r.client(webNode, nil)
		if err := c.Wildcard(wire.ClusterType); err != nil {
			t.Fatal(err)
		}
		r.eventually("first clusters", func() bool { return len(c.Named(wire.ClusterType)) > 0 })
		honest = append(honest, c)
	}
	heap := usage.Heap()

	end := startHostile(t, r)
	if !testing.Short() { // what authors write takes much time with the race detector
		pause := time.Duration(0)
		if measured {
			pause = time.Second
		}
		endHostile, endAuthors := end, startAuthors(t, r, m, pause)
		end = func() { endAuthors(); endHostile() }
	}
	var slowest time.Duration
	var largest int
	begin := time.Now()
	edits := 0
	for ; edits < 3 || time.Since(begin) < duration; edits++ {
		before := honest[0].Named(wire.ClusterType)["default/api"].Version
		r.write("timeout.yaml", timeout(fmt.Sprint(edits+2, "s")))
		at := time.Now()
		for _, c := range honest {
			r.eventually("edit", func() bool {
				return c.Named(wire.ClusterType)["default/api"].Version != before || c.Err() != nil
			})
			if c.Err() != nil {
				t.Fatal(c.Err())
			}
		}
		slowest = max(slowest, time.Since(at))
		largest = max(largest, residentMB())
		if measured && (slowest > 2*time.Second || largest > 1000) {
			t.Fatalf("after %d edits, the slowest took %v, and %d MB were resident", edits+1, slowest, largest)
		}
	}
	end()
	t.Logf("%d edits; the slowest took %v; at most %d MB were resident", edits, slowest, largest)
	r.eventually("memory", func() bool { return usage.Heap() < heap+32<<20 })
	if strings.Contains(r.log.String(), "panic") {
		t.Error("the log has a panic")
	}

	// The server ends although hostile clients are connected.
	startHostile(t, r)
	begin = time.Now()
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); measured && took > 5*time.Second {
		t.Errorf("the server ends after %v", took)
	} else {
		t.Logf("the server ended after %v", took)
	}
}

// tagPolicy returns a policy for the dataplanes with a tag of its own.
func tagPolicy(i int, conf string) string {
	return fmt.Sprintf(`{type: MeshCircuitBreaker, name: c%02d, spec: {targetRef: {kind: MeshSubset, tags: {t%02d: "on"}}, to: [{targetRef: {kind: MeshService, name: api}, default: %s}]}}`, i, i, conf)
}

// A target is the addresses of the server that hostile clients connect to.
type target struct{ xds, http string }

// hostileVariable makes this binary be the hostile clients. It has the address of the xDS server
// that they connect to.
const hostileVariable = "HOSTILE_XDS"

// runHostile is the process of the hostile clients of TestSoakHostile. It is a separate one, so
// that their memory is not measured as the server's. They run until the process is killed, or the
// standard input ends.
func runHostile(at target) {
	ctx, cancel := context.WithCancel(context.Background())
	var clients sync.WaitGroup
	for i, attack := range attacks {
		clients.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 1))
			for ctx.Err() == nil {
				attack(ctx, at, random)
			}
		})
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	cancel()
	clients.Wait()
}

// startHostile starts the process of the hostile clients, and waits until it attacks. It
// returns a function that kills the process.
func startHostile(t *testing.T, r *running) (end func()) {
	t.Helper()
	// If times are measured, the clients get only the processor time that the server
	// leaves, because real clients are on other machines.
	arguments := []string{os.Args[0]}
	if nice, err := exec.LookPath("nice"); err == nil && os.Getenv("SOAK_TIME") != "" {
		arguments = append([]string{nice, "-n", "19"}, arguments...)
	}
	command := exec.CommandContext(t.Context(), arguments[0], arguments[1:]...)
	command.Env = append(os.Environ(), hostileVariable+"="+r.XDSAddr().String(), "HOSTILE_HTTP="+r.HTTPAddr().String())
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		input.Close()
		_ = command.Process.Kill() // it may be slow on a busy machine
		_ = command.Wait()
	})
	r.eventually("hostile clients", func() bool {
		_, body, _ := r.get("/dataplanes/"+webNode+"/status", nil)
		return strings.Contains(body, `"nack"`) // of longNACKs
	})
	return func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	}
}

// attacks are the hostile clients. Each call runs one client to its end, in at most a
// second or two.
var attacks = []func(ctx context.Context, at target, random *rand.Rand){
	manyLocators, missingNames, otherTypes, fullBudget, regions, notReading, longNACKs, idleHTTP, largeRequests,
}

// converse sends requests and reads responses, until an error or for a limited time.
func converse(ctx context.Context, at target, responses int, requests ...*discoveryv3.DeltaDiscoveryRequest) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	conn, err := grpc.NewClient(at.xds, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return
	}
	defer conn.Close()
	stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(conn).DeltaAggregatedResources(ctx,
		grpc.MaxCallSendMsgSize(64<<20), grpc.MaxCallRecvMsgSize(64<<20))
	if err != nil {
		return
	}
	for _, request := range requests {
		if stream.Send(request) != nil {
			return
		}
	}
	for range responses {
		m, err := stream.Recv()
		if err != nil || stream.Send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: m.TypeUrl, ResponseNonce: m.Nonce}) != nil {
			return
		}
	}
	<-ctx.Done() // it stays connected, with its subscriptions
}

func manyLocators(ctx context.Context, at target, _ *rand.Rand) {
	locators := make([]*discoveryv3.ResourceLocator, 100_000)
	for i, name := range xdstest.MissingNames(len(locators), 8) {
		locators[i] = &discoveryv3.ResourceLocator{Name: name, DynamicParameters: map[string]string{"kuma.io/service": "web"}}
	}
	converse(ctx, at, 10, &discoveryv3.DeltaDiscoveryRequest{TypeUrl: wire.ClusterType.URL(), ResourceLocatorsSubscribe: locators})
}

func missingNames(ctx context.Context, at target, _ *rand.Rand) {
	converse(ctx, at, 20, &discoveryv3.DeltaDiscoveryRequest{
		Node: &corev3.Node{Id: strings.Repeat("n", 1000)}, TypeUrl: wire.ClusterType.URL(), ResourceNamesSubscribe: xdstest.MissingNames(20_000, 270),
	})
}

func otherTypes(ctx context.Context, at target, _ *rand.Rand) {
	var requests []*discoveryv3.DeltaDiscoveryRequest
	for i := range 8 {
		requests = append(requests, &discoveryv3.DeltaDiscoveryRequest{TypeUrl: fmt.Sprint("type/", i), ResourceNamesSubscribe: xdstest.MissingNames(10_000, 100)})
	}
	converse(ctx, at, 3, requests...)
}

func fullBudget(ctx context.Context, at target, _ *rand.Rand) {
	var streams sync.WaitGroup
	for range 3 {
		streams.Go(func() {
			converse(ctx, at, 3, &discoveryv3.DeltaDiscoveryRequest{TypeUrl: wire.EndpointType.URL(), ResourceNamesSubscribe: xdstest.MissingNames(60_000, 300)})
		})
	}
	streams.Wait()
}

// regions asks for the variants of new parameters.
func regions(ctx context.Context, at target, random *rand.Rand) {
	locators := make([]*discoveryv3.ResourceLocator, 300)
	for i := range locators {
		p := map[string]string{"kuma.io/service": "web"}
		for tag := range 12 {
			if random.IntN(2) == 0 {
				p[fmt.Sprintf("t%02d", tag)] = "on"
			}
		}
		locators[i] = &discoveryv3.ResourceLocator{Name: "default/api", DynamicParameters: p}
	}
	converse(ctx, at, 5, &discoveryv3.DeltaDiscoveryRequest{TypeUrl: wire.ClusterType.URL(), ResourceLocatorsSubscribe: locators})
}

func notReading(ctx context.Context, at target, _ *rand.Rand) {
	var requests []*discoveryv3.DeltaDiscoveryRequest
	for _, t := range []wire.Type{wire.ClusterType, wire.EndpointType, wire.ListenerType} {
		requests = append(requests, &discoveryv3.DeltaDiscoveryRequest{Node: &corev3.Node{Id: webNode}, TypeUrl: t.URL(), ResourceNamesSubscribe: xdstest.MissingNames(20_000, 100)})
	}
	converse(ctx, at, 0, requests...)
}

// longNACKs rejects each response with a long text.
func longNACKs(ctx context.Context, at target, _ *rand.Rand) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	conn, err := grpc.NewClient(at.xds, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return
	}
	defer conn.Close()
	stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(conn).DeltaAggregatedResources(ctx)
	if err != nil {
		return
	}
	request := &discoveryv3.DeltaDiscoveryRequest{Node: &corev3.Node{Id: webNode}, TypeUrl: wire.ClusterType.URL(), ResourceNamesSubscribe: []string{"*", "default/api"}}
	for stream.Send(request) == nil {
		m, err := stream.Recv()
		if err != nil {
			return
		}
		request = &discoveryv3.DeltaDiscoveryRequest{
			TypeUrl: m.TypeUrl, ResponseNonce: m.Nonce, ErrorDetail: &rpcstatus.Status{Message: strings.Repeat("no ", 1<<18)},
			ResourceNamesSubscribe: []string{"*", "default/api"},
		}
	}
}

func idleHTTP(ctx context.Context, at target, _ *rand.Rand) {
	var conns []net.Conn
	for i := range 300 {
		conn, err := net.Dial("tcp", at.http)
		if err != nil {
			break
		}
		if i%2 == 0 {
			_, _ = io.WriteString(conn, "GET /meshes HTTP/1.1\r\n")
		}
		conns = append(conns, conn)
	}
	select {
	case <-ctx.Done():
	case <-time.After(500 * time.Millisecond):
	}
	for _, conn := range conns {
		conn.Close()
	}
}

// largeRequests sends requests of many elements of two bytes.
func largeRequests(ctx context.Context, at target, _ *rand.Rand) {
	empty := make([]*discoveryv3.ResourceLocator, 1<<20)
	for i := range empty {
		empty[i] = new(discoveryv3.ResourceLocator)
	}
	converse(ctx, at, 1, &discoveryv3.DeltaDiscoveryRequest{TypeUrl: wire.ClusterType.URL(), ResourceLocatorsSubscribe: empty})
}

// residentMB returns the resident set of this process in MB, or 0 if it is unknown.
func residentMB() int {
	content, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(content)) {
		var kilobytes int
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kilobytes); n == 1 {
			return kilobytes / 1000
		}
	}
	return 0
}
