package serving

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	xdscredentials "google.golang.org/grpc/credentials/xds"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/xds"

	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
)

const (
	grpcNode   = "kri_dp_default___client_"
	grpcClient = `
{type: Dataplane, name: client, networking: {address: 127.0.0.1,
  inbound: [{port: 10000, tags: {kuma.io/service: client}}],
  outbound: [{address: 127.0.0.1, port: 10001, tags: {kuma.io/service: greeter}}]}}
`
)

func greeter(number int) string {
	return fmt.Sprintf(`
{type: Dataplane, name: greeter-%d, networking: {address: 127.0.0.3%[1]d,
  inbound: [{port: 10000, protocol: grpc, tags: {kuma.io/service: greeter}}]}}
`, number)
}

// streamDuration is how long a stream to the greeter may live.
func streamDuration(d string) string {
	return fmt.Sprintf(`{type: MeshTimeout, name: streams, spec: {to: [{targetRef: {kind: MeshService, name: greeter}, default: {http: {maxStreamDuration: %s}}}]}}`, d)
}

// grpcMesh is a mesh with one client, greeter-1, and the workloads greeter-1 and
// greeter-2.
func grpcMesh(t *testing.T) *mesh {
	m := newMesh(t, map[string]string{"client.yaml": grpcClient, "greeter.yaml": greeter(1), "permission.yaml": permission("Allow")})
	m.startApp("greeter-1", "127.0.0.31:10000")
	m.startApp("greeter-2", "127.0.0.32:10000")
	return m
}

// greeterTarget is the name of the service greeter for gRPC, which is the name of the cluster
// (SPEC 11.4).
const greeterTarget = "xds:///default/greeter"

// greeters is a client of the service greeter, whose endpoints it has from a server.
type greeters struct {
	t *testing.T
	// call returns the workload that answers a call about a service.
	call func(service string) (app string, err error)
}

// clients are the implementations of gRPC.
var clients = []struct {
	name string
	// dial returns a client with the identity of the dataplane client, if it has one.
	dial func(m *mesh, server string) *greeters
}{
	{"Go", dialGo},
	{"Python", dialPython},
	{"other Go", dialOtherGo},
}

// withClients runs a test with each implementation of gRPC.
func withClients(t *testing.T, test func(t *testing.T, dial func(m *mesh, server string) *greeters)) {
	for _, client := range clients {
		if client.name == "other Go" && otherGo == "" {
			continue
		}
		t.Run(client.name, func(t *testing.T) {
			t.Parallel()
			test(t, client.dial)
		})
	}
}

func dialGo(m *mesh, server string) *greeters {
	m.t.Helper()
	resolver, err := xds.NewXDSResolverWithConfigForTesting(m.grpcBootstrap("client", server))
	if err != nil {
		m.t.Fatal(err)
	}
	secured, err := xdscredentials.NewClientCredentials(xdscredentials.ClientOptions{FallbackCreds: insecure.NewCredentials()})
	if err != nil {
		m.t.Fatal(err)
	}
	conn, err := grpc.NewClient(greeterTarget, grpc.WithResolvers(resolver), grpc.WithTransportCredentials(secured))
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = conn.Close() })
	client, limit := healthv1.NewHealthClient(conn), envoytest.Limit(m.t)
	return &greeters{m.t, func(service string) (app string, err error) {
		var header metadata.MD
		_, err = client.Check(limit, &healthv1.HealthCheckRequest{Service: service}, grpc.Header(&header))
		return strings.Join(header.Get("x-app"), ","), err
	}}
}

// answers waits until a workload answers calls. None of the calls may fail.
func (g *greeters) answers(app string) {
	g.t.Helper()
	eventually(g.t, app+" answers", func() bool {
		got, err := g.call("")
		if err != nil {
			g.t.Fatal(err)
		}
		return got == app
	})
}

// gRPC resolves the name of a cluster, and follows changes.
func TestGRPCResolver(t *testing.T) { withClients(t, testResolver) }

func testResolver(t *testing.T, dial func(m *mesh, server string) *greeters) {
	m := grpcMesh(t)
	server := m.serve(firstReplica)
	g := dial(m, firstReplica)
	g.answers("greeter-1")
	server.waitConverged(1)

	m.write("greeter.yaml", greeter(2))
	g.answers("greeter-2")

	m.write("timeout.yaml", streamDuration("100ms"))
	eventually(t, "a call past the duration of streams fails", func() bool {
		_, err := g.call("after/500ms")
		if err != nil && status.Code(err) != codes.DeadlineExceeded {
			t.Fatal(err)
		}
		return err != nil
	})
	m.write("timeout.yaml", streamDuration("10s"))
	eventually(t, "the call succeeds", func() bool {
		_, err := g.call("after/500ms")
		return err == nil
	})

	server.stop()
	g.answers("greeter-2")
	m.write("greeter.yaml", greeter(1))
	server = m.serve(firstReplica)
	g.answers("greeter-1")
	server.waitConverged(1)
	server.sentOnly("listeners", "routes", "clusters", "endpoints") // by name they are sent again (SPEC 12.3)
}

func balancer(loadBalancer string) string {
	return fmt.Sprintf(`{type: MeshLoadBalancingStrategy, name: all, spec: {to: [{default: {loadBalancer: %s}}]}}`, loadBalancer)
}

// gRPC accepts what policies make of a destination. Features that gRPC lacks it gets in
// another form, or not at all (SPEC 11.4).
func TestGRPCAccepts(t *testing.T) { withClients(t, testAccepts) }

func testAccepts(t *testing.T, dial func(m *mesh, server string) *greeters) {
	m := grpcMesh(t)
	server := m.serve(firstReplica)
	g := dial(m, firstReplica)
	g.answers("greeter-1")
	for _, test := range []struct{ name, policy string }{
		{"retries", `{type: MeshRetry, name: all, spec: {to: [{default: {grpc: {numRetries: 2, retryOn: [Unavailable], backOff: {baseInterval: 30ms, maxInterval: 1s}}}}]}}`},
		{"limits and ejection", `{type: MeshCircuitBreaker, name: all, spec: {to: [{default: {connectionLimits: {maxRequests: 10, maxConnections: 5},
			outlierDetection: {interval: 5s, baseEjectionTime: 30s, maxEjectionPercent: 50, detectors: {totalFailures: {consecutive: 5}, successRate: {minimumHosts: 2}}}}}]}}`},
		{"a ring", balancer("{type: RingHash}")},
		{"a ring by MurmurHash2", balancer("{type: RingHash, ringHash: {hashFunction: MurmurHash2, hashPolicies: [{type: SourceIP}]}}")},
		{"Maglev", balancer("{type: Maglev}")},
		{"least requests", balancer("{type: LeastRequest}")},
		{"routes", `{type: MeshHTTPRoute, name: routes, spec: {targetRef: {kind: MeshService, name: client}, to: [{targetRef: {kind: MeshService, name: greeter}, rules: [
			{matches: [{path: {type: RegularExpression, value: "/grpc[.]health.*"}, headers: [{name: x-kind, value: a}]}], default: {filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: x-route, value: a}]}}]}},
			{matches: [{path: {type: PathPrefix, value: /}}], default: {backendRefs: [{kind: MeshService, name: greeter, weight: 3}, {kind: MeshService, name: nothing, weight: 0}]}}]}]}}`},
		{"a host name", strings.Replace(greeter(1), "address: 127.0.0.31", "address: 127.0.0.31, advertisedAddress: localhost", 1)},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := server.metric("xds_pushes_total")
			file := "policy.yaml"
			if strings.Contains(test.policy, "type: Dataplane") {
				file = "greeter.yaml"
			}
			m.write(file, test.policy)
			eventually(t, "a change is sent", func() bool { return server.metric("xds_pushes_total") > before })
			server.waitConverged(1)
			if got := server.metric("xds_nacks_total"); got != 0 {
				t.Errorf("%d NACKs: %s", got, server.get("/dataplanes/"+grpcNode+"/status"))
			}
			if file == "policy.yaml" {
				g.answers("greeter-1")
			}
		})
	}
}
