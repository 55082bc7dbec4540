package serving

import (
	"crypto/tls"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
)

// secured is a greeter with the label of a MeshIdentity.
func secured(number int) string {
	return fmt.Sprintf(`
{type: Dataplane, name: greeter-%d, labels: {tls: "yes"}, networking: {address: 127.0.0.3%[1]d,
  inbound: [{port: 10000, protocol: grpc, tags: {kuma.io/service: greeter}}]}}
`, number)
}

const securedClient = `
{type: Dataplane, name: client, labels: {tls: "yes"}, networking: {address: 127.0.0.1,
  inbound: [{port: 10000, tags: {kuma.io/service: client}}],
  outbound: [{address: 127.0.0.1, port: 10001, tags: {kuma.io/service: greeter}}]}}
`

// A gRPC client reaches a gRPC server by mutual TLS if the permissions of the server allow
// its SPIFFE ID, and no server that has another SPIFFE ID than the endpoint.
func TestGRPCIdentity(t *testing.T) { withClients(t, testIdentity) }

func testIdentity(t *testing.T, dial func(m *mesh, server string) *greeters) {
	m := newMesh(t, map[string]string{"client.yaml": securedClient, "greeter-1.yaml": secured(1), "permission.yaml": allowed("client")})
	m.write("identities.yaml", m.identities(`tls: "yes"`))
	server := m.serve(firstReplica)
	ca := envoytest.NewAuthority(t)
	m.issue(ca, "client", "greeter-1")
	m.startServer(firstReplica, "greeter-1", "127.0.0.31:10000")
	g := dial(m, firstReplica)
	g.answers("greeter-1")
	server.waitConverged(2)

	m.write("permission.yaml", allowed("web"))
	g.fails(codes.PermissionDenied)
	m.write("permission.yaml", allowed("client"))
	g.recovers("greeter-1")

	// An endpoint without identity is left out while another one has it.
	m.startApp("greeter-2", "127.0.0.32:10000")
	m.write("greeter-2.yaml", greeter(2))
	eventually(t, "the warning", func() bool { return strings.Contains(server.log.String(), "endpoints without identity are left out") })
	for range 20 {
		g.answers("greeter-1")
	}
	m.remove("greeter-1.yaml")
	g.recovers("greeter-2")

	// What answers at the address of an endpoint must have its SPIFFE ID.
	m.startImpostor(ca, "web", "127.0.0.33:10000")
	m.write("greeter-3.yaml", secured(3))
	eventually(t, "the impostor is refused", func() bool {
		app, err := g.call("")
		if err == nil && app == "" {
			t.Fatal("the impostor has answered")
		}
		return status.Code(err) == codes.Unavailable && strings.Contains(err.Error(), "not match")
	})
	if got := server.metric("xds_nacks_total"); got != 0 {
		t.Errorf("%d NACKs", got)
	}
}

// startImpostor starts a gRPC server with the certificate of a dataplane that is not the
// one at its address.
func (m *mesh) startImpostor(ca *envoytest.Authority, name, address string) {
	m.t.Helper()
	listener, err := envoytest.Listen(m.network.Replace(address))
	if err != nil {
		m.t.Fatal(err)
	}
	s := grpc.NewServer(grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{ca.Issue(m.t, trustDomain+name)}})))
	healthv1.RegisterHealthServer(s, health.NewServer())
	go func() { _ = s.Serve(listener) }()
	m.t.Cleanup(s.Stop)
}

// fails waits until calls have a status.
func (g *greeters) fails(want codes.Code) {
	g.t.Helper()
	eventually(g.t, fmt.Sprintf("calls have the status %s", want), func() bool {
		_, err := g.call("")
		return status.Code(err) == want
	})
}

// recovers waits until calls succeed, after calls that fail.
func (g *greeters) recovers(app string) {
	g.t.Helper()
	eventually(g.t, app+" answers again", func() bool {
		got, err := g.call("")
		return err == nil && got == app
	})
}
