package serving

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	xdscredentials "google.golang.org/grpc/credentials/xds"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/xds"

	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
)

// identities gives the dataplanes with a label the SPIFFE ID
// spiffe://default.mesh.local/NAME, and the files that issue writes for them.
func (m *mesh) identities(label string) string {
	return fmt.Sprintf(`
{type: MeshIdentity, name: identities, spec: {selector: {dataplane: {matchLabels: {%s}}}, spiffeID: {path: "/{{ .Name }}"},
  provider: {type: Extension, extension: {name: files, config: {certificate: "%[2]s/{{ .Name }}.pem", privateKey: "%[2]s/{{ .Name }}.key", trustBundle: "%[2]s/ca.pem"}}}}}
`, label, m.certificates)
}

// issue writes the certificates of dataplanes.
func (m *mesh) issue(ca *envoytest.Authority, names ...string) {
	for _, name := range names {
		ca.WriteFiles(m.t, m.certificates, name, trustDomain+name)
	}
}

const trustDomain = "spiffe://default.mesh.local/"

// allowed permits the calls of one dataplane.
func allowed(name string) string {
	return fmt.Sprintf(`{type: MeshTrafficPermission, name: all, spec: {rules: [{default: {allow: [{spiffeId: {type: Exact, value: %q}}]}}]}}`, trustDomain+name)
}

// startServer starts the gRPC server of a dataplane, which has its listener from a server
// of a mesh, and its certificate, if it has one, from files. The header x-app of its
// answers is the name. It waits until the server accepts connections.
func (m *mesh) startServer(server, name, address string) string {
	m.t.Helper()
	listener, err := envoytest.Listen(m.network.Replace(address))
	if err != nil {
		m.t.Fatal(err)
	}
	secured, err := xdscredentials.NewServerCredentials(xdscredentials.ServerOptions{FallbackCreds: insecure.NewCredentials()})
	if err != nil {
		m.t.Fatal(err)
	}
	named := func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		if err := grpc.SetHeader(ctx, metadata.Pairs("x-app", name)); err != nil {
			return nil, err
		}
		return handle(ctx, request)
	}
	serving := make(chan struct{})
	begin := sync.OnceFunc(func() { close(serving) })
	s, err := xds.NewGRPCServer(grpc.Creds(secured), grpc.ChainUnaryInterceptor(named), xds.BootstrapContentsForTesting(m.grpcBootstrap(name, server)),
		xds.ServingModeCallback(func(_ net.Addr, args xds.ServingModeChangeArgs) {
			if args.Mode == connectivity.ServingModeServing {
				begin()
			}
		}))
	if err != nil {
		m.t.Fatal(err)
	}
	healthv1.RegisterHealthServer(s, health.NewServer())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(listener) }()
	m.t.Cleanup(func() {
		s.Stop()
		if err := <-ended; err != nil {
			m.t.Error(err)
		}
	})
	select {
	case <-serving:
	case <-envoytest.Limit(m.t).Done():
		m.t.Fatalf("%s does not serve", name)
	}
	return listener.Addr().String()
}

// callAs returns the status of a call by a client with the certificate of a dataplane.
func callAs(t *testing.T, ca *envoytest.Authority, name, address string) codes.Code {
	t.Helper()
	config := &tls.Config{
		Certificates:       []tls.Certificate{ca.Issue(t, trustDomain+name)},
		InsecureSkipVerify: true, // the certificate of the server has no host name
	}
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(credentials.NewTLS(config)))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, err = healthv1.NewHealthClient(conn).Check(envoytest.Limit(t), &healthv1.HealthCheckRequest{})
	return status.Code(err)
}

// A gRPC server admits the clients that the permissions of its dataplane allow, by their
// certificates, and follows changes.
func TestGRPCServer(t *testing.T) {
	servers := map[string]func(m *mesh, server, name, address string) string{
		"Go":     (*mesh).startServer,
		"Python": (*mesh).startPythonServer,
	}
	if otherGo != "" {
		servers["other Go"] = (*mesh).startOtherGo
	}
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testGRPCServer(t, start)
		})
	}
}

func testGRPCServer(t *testing.T, start func(m *mesh, server, name, address string) string) {
	m := newMesh(t, map[string]string{"greeter.yaml": greeter(1), "permission.yaml": allowed("web")})
	m.write("identities.yaml", m.identities(""))
	server := m.serve(firstReplica)
	ca := envoytest.NewAuthority(t)
	m.issue(ca, "greeter-1")
	address := start(m, firstReplica, "greeter-1", "127.0.0.31:10000")
	server.waitConverged(1)
	expect := func(name string, want codes.Code) {
		t.Helper()
		eventually(t, fmt.Sprintf("%s gets %s", name, want), func() bool { return callAs(t, ca, name, address) == want })
	}
	expect("web", codes.OK)
	expect("api", codes.PermissionDenied)

	m.write("permission.yaml", allowed("api"))
	expect("web", codes.PermissionDenied)
	expect("api", codes.OK)

	server.stop()
	expect("api", codes.OK)
	expect("web", codes.PermissionDenied)
	server = m.serve(firstReplica)
	server.waitConverged(1)
	server.sentOnly("listeners", "routes") // by name they are sent again (SPEC 12.3)
	if got := server.metric("xds_nacks_total"); got != 0 {
		t.Errorf("%d NACKs", got)
	}
}
